//! The slot: waited for at most so long, given up when the caller cancels, and the grant checked again.

use belljar_executor::Cancel;

use super::deliver::{Ended, Finished};
use super::{Recorded, SlotGuard, World};
use crate::code::Code;

/// A recorded run that holds a slot.
#[derive(Debug)]
pub struct Admitted {
    pub(super) recorded: Recorded,
    pub(super) slot: SlotGuard,
}

/// Waits for a slot and checks the grant once more.
///
/// # Errors
/// A [`Finished`] that never started: the wait was over, the caller cancelled, or the grant was revoked
/// in the meantime.
pub async fn admit(world: &World, recorded: Recorded, cancel: &Cancel) -> Result<Admitted, Finished> {
    let tenant = recorded.record.tenant.clone();
    let asked = tokio::time::Instant::now();
    let slot = tokio::select! {
        biased;
        () = cancel.fired() => Err(Code::Cancelled),
        slot = world.slots.take(&tenant) => slot.ok_or(Code::Internal),
        () = tokio::time::sleep(world.options.slot_wait()) => Err(Code::CapacityExceeded),
    };
    world.meter.waited_for_slot(asked.elapsed());
    let slot = match slot {
        Ok(slot) => slot,
        Err(code) => return Err(Finished::new(recorded, Ended::NotStarted(code))),
    };
    match world.ports.grants.get(&tenant, &recorded.record.grant_id).await {
        Ok(Some(grant)) if grant.is_active(world.ports.clock.now()) => Ok(Admitted { recorded, slot }),
        Ok(_) => Err(Finished::new(recorded, Ended::NotStarted(Code::ScriptDenied))),
        Err(error) => {
            tracing::error!(%error, "a grant could not be read again; the run is not started");
            Err(Finished::new(recorded, Ended::NotStarted(Code::StoreUnavailable)))
        }
    }
}
