//! Runs that are opened under a key, so that a call which is sent again runs once.

use belljar_core::audit::Action;
use belljar_core::execution::{ExecutionRecord, Status};
use belljar_core::once::{Earlier, IdempotencyKey, Once, Opened, REMEMBERED};
use belljar_core::ports::Ports;
use belljar_core::time::Timestamp;
use belljar_executor::Digest;

use crate::Subject;
use crate::reading::{close, verified};
use crate::snapshot::Snapshot;
use crate::values::{about, at, ended, other_tenant, run, tenant};

fn key() -> IdempotencyKey {
    IdempotencyKey::parse("key").unwrap()
}

/// A run under the key, by a call with this text.
fn keyed(ports: &Ports, call: &str) -> ExecutionRecord {
    ExecutionRecord { once: Some(Once { key: key(), call: Digest::of(call.as_bytes()) }), ..run(ports) }
}

async fn try_open(ports: &Ports, run: &ExecutionRecord) -> Opened {
    ports.executions.open(run.clone(), about(run, Action::ScriptRun)).await.unwrap()
}

async fn earlier(ports: &Ports, run: &ExecutionRecord, since: Timestamp) -> Option<Earlier> {
    ports.executions.earlier(&run.tenant, &run.caller, &key(), since).await.unwrap()
}

/// What is told of a run that has the key.
fn told(run: &ExecutionRecord) -> Earlier {
    Earlier { execution_id: run.execution_id.clone(), call: run.once.as_ref().unwrap().call }
}

/// The first run under a key is opened; of the next, whatever its call, nothing is written, and the first is told.
pub async fn a_key_opens_one_run(subject: &dyn Subject) {
    let (ports, other) = (subject.open().await, subject.open().await);
    let first = keyed(&ports, "a");
    assert_eq!(earlier(&ports, &first, at(0)).await, None);
    assert!(matches!(try_open(&ports, &first).await, Opened::Now(_)));
    let before = Snapshot::of(&ports).await;
    for (ports, call) in [(&ports, "a"), (&other, "b")] {
        assert_eq!(try_open(ports, &keyed(ports, call)).await, Opened::Earlier(told(&first)));
        assert_eq!(earlier(ports, &first, at(0)).await, Some(told(&first)));
    }
    assert_eq!(Snapshot::of(&ports).await, before);
    // Its end changes nothing about that.
    assert!(close(&ports, &ended(&first)).await);
    assert_eq!(try_open(&other, &keyed(&other, "a")).await, Opened::Earlier(told(&first)));
    let kept = ports.executions.get(&tenant(), &first.execution_id).await.unwrap().unwrap();
    assert_eq!(kept.once, first.once);
}

/// Another caller, and the same one of another tenant, has a key of that name of its own.
pub async fn a_key_is_its_callers(subject: &dyn Subject) {
    let ports = subject.open().await;
    let mine = keyed(&ports, "a");
    let theirs = ExecutionRecord { caller: "ben".to_owned(), ..keyed(&ports, "b") };
    let elsewhere = ExecutionRecord { tenant: other_tenant(), ..keyed(&ports, "c") };
    for run in [&mine, &theirs, &elsewhere] {
        assert_eq!(earlier(&ports, run, at(0)).await, None);
        assert!(matches!(try_open(&ports, run).await, Opened::Now(_)));
        assert_eq!(earlier(&ports, run, at(0)).await, Some(told(run)));
    }
}

/// A key is remembered for its time, to the microsecond, and then opens another run.
pub async fn a_key_is_free_after_its_time(subject: &dyn Subject) {
    let ports = subject.open().await;
    let first = keyed(&ports, "a");
    try_open(&ports, &first).await;
    assert_eq!(earlier(&ports, &first, first.created_at).await, Some(told(&first)));
    let later = Timestamp::from_microseconds(first.created_at.microseconds() + 1);
    assert_eq!(earlier(&ports, &first, later).await, None);
    let last_moment = ExecutionRecord { created_at: first.created_at.after(REMEMBERED), ..keyed(&ports, "a") };
    assert_eq!(try_open(&ports, &last_moment).await, Opened::Earlier(told(&first)));
    let after = ExecutionRecord { created_at: later.after(REMEMBERED), ..keyed(&ports, "b") };
    assert!(matches!(try_open(&ports, &after).await, Opened::Now(_)));
    assert_eq!(earlier(&ports, &after, later).await, Some(told(&after)));
}

/// The key of a run that did not start is free again.
pub async fn the_key_of_what_did_not_start_is_free(subject: &dyn Subject) {
    let ports = subject.open().await;
    let first = keyed(&ports, "a");
    try_open(&ports, &first).await;
    assert!(close(&ports, &ExecutionRecord { status: Status::NotStarted, ..ended(&first) }).await);
    assert_eq!(earlier(&ports, &first, at(0)).await, None);
    assert!(matches!(try_open(&ports, &keyed(&ports, "b")).await, Opened::Now(_)));
}

/// Of runs that race under one key one is opened, and the others are told of it.
pub async fn of_racing_runs_under_one_key_one_is_opened(subject: &dyn Subject) {
    let handles = [subject.open().await, subject.open().await];
    let racers = handles.iter().cycle().take(8).map(|ports| {
        let (ports, run) = (ports.clone(), keyed(ports, "a"));
        tokio::spawn(async move { try_open(&ports, &run).await })
    });
    let mut answers = Vec::new();
    for racer in racers.collect::<Vec<_>>() {
        answers.push(racer.await.unwrap());
    }
    let opened = answers.iter().filter(|answer| matches!(answer, Opened::Now(_))).count();
    assert_eq!(opened, 1, "{answers:?}");
    let runs = handles[0].executions.running(&tenant()).await.unwrap();
    assert_eq!(runs.len(), 1);
    for answer in &answers {
        assert!(matches!(answer, Opened::Now(_)) || *answer == Opened::Earlier(told(&runs[0])));
    }
    assert_eq!(verified(&handles[0], &tenant()).await, 1);
}
