//! The run: a chain of values, each made only from the one before, by move.
//!
//! ```text
//! Call ─resolve─► Resolved ─gates─► Cleared ─ready─► Ready ─record─► Recorded ─admit─► Admitted ─deliver─► Finished ─keep─► Answer
//!          │                  │              │              │                 │
//!          ▼                  ▼              ▼              ▼                 └─ slot wait over, cancelled, revoked ─► Finished
//!       Refusal        script.denied   script.denied  AUDIT_UNAVAILABLE
//! ```
//!
//! Only [`record`] makes a [`Recorded`], and it does so once the `script.run` entry is durable; only a
//! `Recorded` can wait for a slot, and only an [`Admitted`] reaches the executor. A shorter way does
//! not compile.

mod access;
mod admit;
mod call;
mod deliver;
mod denial;
mod gates;
mod keep;
mod live;
mod locate;
mod preview;
mod ready;
mod recorded;
mod replay;
mod request;
mod resolve;
mod slots;

use std::collections::BTreeMap;
use std::sync::Arc;

use belljar_executor::{Cancel, Executor, SkillName};
use tracing::Instrument;

pub use access::AccessDenials;
pub use admit::{Admitted, admit};
pub use call::{Call, SkillSelector, check_input_object};
pub use deliver::{Finished, deliver};
pub use denial::{Denial, Stop, unavailable_refusal};
pub(crate) use gates::closed_gate;
pub use gates::{Cleared, pass};
pub(crate) use keep::close_orphan;
pub use keep::{Answer, keep};
pub use live::Live;
pub(crate) use live::heed_requests;
pub(crate) use locate::{Located, edition, find_component, find_script, find_skill, reading};
pub(crate) use preview::preview;
pub use ready::{Ready, ready};
pub use recorded::{Recorded, Recording, record};
pub use resolve::{Resolved, resolve};
pub use slots::{SlotGuard, Slots};

use crate::caller::Caller;
use crate::health::Health;
use crate::meter::Meter;
use crate::options::Options;
use crate::ports::Ports;
use crate::refusal::Refusal;
use crate::skill::SkillFolder;

/// Everything that a run meets on its way.
#[derive(Debug)]
pub struct World {
    /// The ports.
    pub ports: Ports,
    /// The checked options.
    pub options: Options,
    /// Where scripts run.
    pub executor: Arc<dyn Executor>,
    /// Skills that the program registered, by name.
    pub registered: BTreeMap<SkillName, Arc<SkillFolder>>,
    /// The runs of this process that are under way.
    pub live: Live,
    /// The slots of this process.
    pub slots: Slots,
    /// Whether runs can be started.
    pub health: Health,
    /// The counters.
    pub meter: Arc<Meter>,
    /// Keeps one caller from filling the trail with `access.denied` entries.
    pub access_denials: AccessDenials,
}

/// Walks the whole chain. Runs in a task of its own that nobody drops: a surface whose client goes away
/// fires `cancel` and the chain still reaches its record.
pub(crate) async fn walk(world: &Arc<World>, caller: Caller, call: Call, cancel: &Cancel) -> Result<Answer, Refusal> {
    let once = call.once();
    if let Some(once) = &once
        && let Some(answer) = replay::replay(world, &caller, once, cancel).await?
    {
        return Ok(answer);
    }
    let resolved = match resolve(world, caller.clone(), call).await {
        Ok(resolved) => resolved,
        Err(stop) => return Err(stop.refuse(world).await),
    };
    resolved.name_in_span();
    let cleared = match pass(world, resolved).await {
        Ok(cleared) => cleared,
        Err(stop) => return Err(stop.refuse(world).await),
    };
    let ready = match ready(world, cleared) {
        Ok(ready) => ready,
        Err(stop) => return Err(stop.refuse(world).await),
    };
    if cancel.has_fired() {
        return Err(Refusal::new(crate::code::Code::Cancelled, "The call was cancelled before anything was recorded."));
    }
    let recorded = match record(world, ready, once.clone()).await? {
        Recording::Recorded(recorded) => *recorded,
        Recording::Earlier(earlier, once) => {
            let outcome = replay::outcome(world, &caller, &once, &earlier, cancel).await?;
            let message = "The run that was started under this key at the same moment did not start; try again.";
            return outcome.ok_or_else(|| Refusal::new(crate::code::Code::Conflict, message));
        }
    };
    let record = recorded.record.clone();
    let _live = world.live.enter(&record.execution_id, cancel);
    let started = tokio::spawn(start(Arc::clone(world), recorded, cancel.clone()).in_current_span());
    let finished = started.await.unwrap_or_else(|panic| Finished::panicked(record, &panic));
    keep(world, finished).await
}

/// From the slot to the end of the run. A task of its own, so that even its panic is kept as an outcome.
async fn start(world: Arc<World>, recorded: Recorded, cancel: Cancel) -> Finished {
    match admit(&world, recorded, &cancel).await {
        Ok(admitted) => deliver(&world, admitted, &cancel).await,
        Err(not_started) => not_started,
    }
}
