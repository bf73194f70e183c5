//! Open runs: who has them, who wants them cancelled, and whose nobody has any more.

use belljar_core::audit::Action;
use belljar_core::execution::{ExecutionRecord, Status};
use belljar_core::ports::{Executions, Ports};
use belljar_executor::ExecutionId;
use serde_json::{Value, json};

use crate::Subject;
use crate::reading::{appended, close, open, trail, verified};
use crate::snapshot::Snapshot;
use crate::values::{about, at, ended, entry, run, tenant};

/// An open run has the receipt of its entry, which is its proof, and comes back as it was recorded.
pub async fn a_run_is_opened_with_its_receipt(subject: &dyn Subject) {
    let ports = subject.open().await;
    // Deeper than many a reader of JSON goes.
    let deep = (0..300).fold(json!(1.5), |inner, _| Value::Array(vec![inner]));
    let argv = vec!["--name".to_owned(), "a\u{0}b".to_owned()];
    let opened = ExecutionRecord { arguments: Some(deep), argv, ..run(&ports) };
    let opening = ports.executions.open(opened.clone(), about(&opened, Action::ScriptRun)).await.unwrap();
    let receipt = opening.receipt().unwrap();
    let last = trail(&ports, &tenant()).await.pop().unwrap();
    assert_eq!((last.action, last.sequence), (Action::ScriptRun, 1));
    assert_eq!((receipt.sequence, &receipt.audit_id, &receipt.hash), (1, &last.id, &last.hash.lower_hex()));
    let kept = ExecutionRecord { receipt: Some(receipt), ..opened };
    assert_eq!(ports.executions.get(&tenant(), &kept.execution_id).await.unwrap(), Some(kept));
}

/// The same run is opened once. The second entry is taken back.
pub async fn a_run_is_opened_once(subject: &dyn Subject) {
    let ports = subject.open().await;
    let opened = run(&ports);
    open(&ports, &opened).await;
    let before = Snapshot::of(&ports).await;
    assert!(ports.executions.open(opened.clone(), about(&opened, Action::ScriptRun)).await.is_err());
    assert_eq!(Snapshot::of(&ports).await, before);
}

fn ids(runs: Vec<ExecutionRecord>) -> Vec<ExecutionId> {
    runs.into_iter().map(|run| run.execution_id).collect()
}

/// Records are listed newest first, and no more than asked; open runs oldest first, without those that ended.
pub async fn records_are_listed_newest_first_and_open_runs_oldest_first(subject: &dyn Subject) {
    let ports = subject.open().await;
    let mut runs = Vec::new();
    for moment in [2, 1, 4, 3] {
        let opened = ExecutionRecord { created_at: at(moment), ..run(&ports) };
        open(&ports, &opened).await;
        runs.push(opened);
    }
    assert!(close(&ports, &ended(&runs[3])).await);
    let [second, first, fourth, third] = [0, 1, 2, 3].map(|at: usize| runs[at].execution_id.clone());
    let list = async |limit| ids(ports.executions.list(&tenant(), limit).await.unwrap());
    assert_eq!(list(2).await, [fourth.clone(), third.clone()]);
    assert_eq!(list(9).await, [fourth.clone(), third, second.clone(), first.clone()]);
    assert!(list(0).await.is_empty());
    assert_eq!(ids(ports.executions.running(&tenant()).await.unwrap()), [first, second, fourth]);
}

async fn requests(ports: &Ports) -> Vec<ExecutionId> {
    ports.executions.cancel_requests().await.unwrap()
}

/// Anybody may ask for an open run to be cancelled; its owner hears of it, and nobody else.
pub async fn a_cancel_request_reaches_the_owner_alone(subject: &dyn Subject) {
    let (owner, other) = (subject.open().await, subject.open().await);
    let tenant = tenant();
    let (asked, spared, elsewhere) = (run(&owner), run(&owner), run(&other));
    for (ports, opened) in [(&owner, &asked), (&owner, &spared), (&other, &elsewhere)] {
        open(ports, opened).await;
    }
    let change = other.executions.request_cancel(&tenant, &asked.execution_id, entry(Action::ExecutionCancel));
    let (answer, entries) = appended(&owner, &tenant, change).await;
    assert_eq!((answer, entries.len()), (true, 1));
    assert_eq!(requests(&owner).await, std::slice::from_ref(&asked.execution_id));
    assert!(requests(&other).await.is_empty());
    // It still runs: its owner ends it, and then the request is done with.
    assert_eq!(owner.executions.running(&tenant).await.unwrap().len(), 3);
    assert!(close(&owner, &ExecutionRecord { status: Status::Cancelled, ..asked }).await);
    assert!(requests(&owner).await.is_empty());
}

/// A run that is not open, or that somebody asked for before, takes no request, and nothing is written.
pub async fn a_run_is_asked_to_be_cancelled_once_and_while_it_is_open(subject: &dyn Subject) {
    let ports = subject.open().await;
    let tenant = tenant();
    let (opened, closed) = (run(&ports), run(&ports));
    open(&ports, &opened).await;
    open(&ports, &closed).await;
    assert!(close(&ports, &ended(&closed)).await);
    let ask = async |id: &ExecutionId| {
        let change = ports.executions.request_cancel(&tenant, id, entry(Action::ExecutionCancel));
        let (answer, entries) = appended(&ports, &tenant, change).await;
        (answer, entries.len())
    };
    assert_eq!(ask(&opened.execution_id).await, (true, 1));
    for id in [&opened.execution_id, &closed.execution_id, &ExecutionId::parse("none").unwrap()] {
        assert_eq!(ask(id).await, (false, 0), "{id}");
    }
    assert_eq!(requests(&ports).await, [opened.execution_id]);
}

async fn orphans(executions: &dyn Executions) -> Vec<ExecutionId> {
    ids(executions.orphans().await.unwrap())
}

/// Orphans are the open runs of owners that are dead: neither one's own nor a living neighbour's.
pub async fn orphans_are_the_open_runs_of_the_dead(subject: &dyn Subject) {
    let (dying, living, mine) = (subject.open().await, subject.open().await, subject.open().await);
    let owners: Vec<_> = [&dying, &living, &mine].map(|ports| ports.executions.owner().clone()).into();
    assert!(owners[0] != owners[1] && owners[1] != owners[2] && owners[0] != owners[2]);
    let (lost, done) = (run(&dying), run(&dying));
    for (ports, opened) in
        [(&dying, lost.clone()), (&dying, done.clone()), (&living, run(&living)), (&mine, run(&mine))]
    {
        open(ports, &opened).await;
    }
    assert!(close(&dying, &ended(&done)).await);
    assert!(orphans(&*mine.executions).await.is_empty(), "all are alive");
    subject.end(dying).await;
    for ports in [&mine, &living, &subject.open().await] {
        assert_eq!(orphans(&*ports.executions).await, std::slice::from_ref(&lost.execution_id));
    }
    // Whoever finds it closes it, once.
    let found = ExecutionRecord { status: Status::Lost, ..lost };
    assert!(close(&mine, &found).await);
    assert!(!close(&living, &found).await);
    assert!(orphans(&*mine.executions).await.is_empty());
    assert_eq!(verified(&mine, &tenant()).await, 6);
}
