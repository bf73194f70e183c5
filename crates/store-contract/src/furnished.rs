//! A database with one of everything.

use belljar_core::audit::Action;
use belljar_core::execution::ExecutionRecord;
use belljar_core::grant::Grant;
use belljar_core::ports::Ports;
use belljar_core::skill::{RevisionDraft, Saved};

use crate::reading::{add, close, open, save};
use crate::values::{FIRST, SECOND, ended, entry, grant, refusal, revision, run, script, tenant};

/// What the first tenant has. It is paused, too.
pub(crate) struct Furnished {
    /// The skill's published revision.
    pub(crate) first: Saved,
    /// Its latest one.
    pub(crate) second: Saved,
    /// An active grant.
    pub(crate) grant: Grant,
    /// A run that is open.
    pub(crate) open: ExecutionRecord,
    /// A run that has ended.
    pub(crate) closed: ExecutionRecord,
}

/// Fills the database through this handle.
pub(crate) async fn furnish(ports: &Ports) -> Furnished {
    let first = save(ports, RevisionDraft { publish: true, ..revision("demo", FIRST) }).await;
    let second = save(ports, revision("demo", SECOND)).await;
    let granted = add(ports, &grant(script(), Some("pin")), false).await;
    ports.grants.refuse(refusal("other pin", 30), entry(Action::ScriptDenied)).await.unwrap();
    let (opened, closed) = (run(ports), run(ports));
    open(ports, &opened).await;
    open(ports, &closed).await;
    assert!(close(ports, &ended(&closed)).await, "an open run can be closed");
    ports.pauses.set_paused(Some(&tenant()), true, entry(Action::ExecutionPause)).await.unwrap();
    Furnished { first, second, grant: granted, open: opened, closed }
}
