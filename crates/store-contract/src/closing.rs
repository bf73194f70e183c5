//! Closing runs.

use belljar_core::audit::Action;
use belljar_core::execution::{ExecutionRecord, Status};

use crate::Subject;
use crate::reading::{appended, close, open};
use crate::snapshot::Snapshot;
use crate::values::{about, ended, run, tenant};

/// A closed run is kept as it ended, with the receipt it was opened with.
pub async fn a_closed_run_is_kept_as_it_ended(subject: &dyn Subject) {
    let ports = subject.open().await;
    let opened = run(&ports);
    let receipt =
        ports.executions.open(opened.clone(), about(&opened, Action::ScriptRun)).await.unwrap().receipt().unwrap();
    let stdout = "a\u{0}b\n".to_owned();
    let closed = ExecutionRecord { stdout, stderr: "\u{0}".to_owned(), signal: Some(9), ..ended(&opened) };
    let change = ports.executions.close(closed.clone(), about(&opened, Action::ScriptOutcome));
    let (answer, entries) = appended(&ports, &tenant(), change).await;
    assert!(answer);
    assert_eq!(entries.iter().map(|entry| entry.action).collect::<Vec<_>>(), [Action::ScriptOutcome]);
    let kept = ports.executions.get(&tenant(), &opened.execution_id).await.unwrap();
    assert_eq!(kept, Some(ExecutionRecord { receipt: Some(receipt), ..closed }));
    assert!(ports.executions.running(&tenant()).await.unwrap().is_empty());
}

/// A run is closed once. Whoever comes second changes nothing and writes nothing.
pub async fn a_run_is_closed_once(subject: &dyn Subject) {
    let (ports, other) = (subject.open().await, subject.open().await);
    let opened = run(&ports);
    open(&ports, &opened).await;
    assert!(close(&ports, &ended(&opened)).await);
    let before = Snapshot::of(&ports).await;
    assert!(!close(&other, &ExecutionRecord { status: Status::Lost, ..opened }).await);
    assert_eq!(Snapshot::of(&other).await, before);
}

/// A run that was never opened is not closed, and nothing is written.
pub async fn an_unknown_run_is_not_closed(subject: &dyn Subject) {
    let ports = subject.open().await;
    let before = Snapshot::of(&ports).await;
    assert!(!close(&ports, &ended(&run(&ports))).await);
    assert_eq!(Snapshot::of(&ports).await, before);
}
