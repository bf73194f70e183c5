//! Every ending: its status, its code, and one outcome entry.

use std::time::Duration;

use belljar_core::audit::Action;
use belljar_core::code::Code;
use belljar_core::execution::ExecutionRecord;
use belljar_core::options::OptionsDraft;
use belljar_core::run::Call;
use belljar_executor::{Captured, ExecutorError, LimitHit, Outcome};

use crate::support::{Scripted, TestWorld, call, caller, options, outcome};

fn text(text: &str) -> Captured {
    Captured { text: text.into(), truncated: false }
}

async fn ending_of(executor: Scripted) -> (TestWorld, ExecutionRecord) {
    let world = TestWorld::new(executor).await;
    world.ready().await;
    let answer = world.belljar.execute(&caller(), call()).await.unwrap();
    assert!(answer.recorded);
    (world, answer.record)
}

/// The record, the store and the trail tell the same ending; nothing is left.
async fn assert_ending(executor: Scripted, status: &str, error_kind: Option<&str>) -> ExecutionRecord {
    let (world, record) = ending_of(executor).await;
    assert_eq!((record.status.as_str(), record.error_kind.as_deref()), (status, error_kind));
    let kept = world.belljar.execution(&caller(), &record.execution_id).await.unwrap();
    assert_eq!(kept, record);
    let outcomes = world.entries_of(Action::ScriptOutcome).await;
    assert_eq!(outcomes.len(), 1);
    assert_eq!(outcomes[0].facts()["status"], status);
    assert_eq!(outcomes[0].facts()["execution_id"], record.execution_id.as_str());
    assert_eq!(world.entries_of(Action::ScriptRun).await.len(), 1);
    assert_eq!(world.belljar.slots_held(), 0);
    assert_eq!(world.belljar.meter().running, 0);
    world.assert_trail_is_whole().await;
    record
}

#[tokio::test]
async fn exits() {
    let record = assert_ending(Scripted::exits(0), "success", None).await;
    assert_eq!(record.exit_code, Some(0));
    let record = assert_ending(Scripted::exits(7), "failed", Some("SCRIPT_EXECUTION_ERROR")).await;
    assert_eq!((record.exit_code, record.signal), (Some(7), None));
    let signal = Scripted::new(|_, _| async { Ok(Outcome::signalled(11, text("out"), text("err"))) });
    let record = assert_ending(signal, "failed", Some("SCRIPT_EXECUTION_ERROR")).await;
    assert_eq!((record.exit_code, record.signal), (Some(139), Some(11)));
    assert_eq!((record.stdout.as_str(), record.stderr.as_str()), ("out", "err"));
}

#[tokio::test]
async fn the_deadline_keeps_the_output_and_has_no_exit_code() {
    let executor = Scripted::new(|_, _| async { Ok(Outcome::timed_out(text("partial"), text(""))) });
    let record = assert_ending(executor, "timeout", Some("EXECUTION_TIMEOUT")).await;
    assert_eq!((record.exit_code, record.stdout.as_str(), record.abandoned), (None, "partial", false));
}

#[tokio::test]
async fn limits() {
    for (limit, code, status) in [
        (LimitHit::Memory, 137, "resource_exhausted"),
        // A surviving parent hides the kill; the run is exhausted all the same.
        (LimitHit::Memory, 0, "resource_exhausted"),
        (LimitHit::Tasks, 1, "resource_exhausted"),
        (LimitHit::Tasks, 0, "success"),
        (LimitHit::Disk, 1, "resource_exhausted"),
        (LimitHit::Disk, 0, "success"),
        (LimitHit::Cpu, 152, "resource_exhausted"),
    ] {
        let executor = Scripted::new(move |_, _| async move { Ok(outcome(code).with_limits_hit(vec![limit])) });
        let kind = (status != "success").then_some("RESOURCE_EXHAUSTED");
        let record = assert_ending(executor, status, kind).await;
        assert_eq!(record.limits_hit, [limit.as_str()]);
    }
}

#[tokio::test]
async fn faults_tell_their_kind_and_nothing_of_their_message() {
    let fault = Scripted::new(|_, _| async { Err(ExecutorError::fault("password=hunter2")) });
    let record = assert_ending(fault, "fault", Some("EXECUTOR_FAULT")).await;
    assert_eq!(record.fault_kind.as_deref(), Some("Fault"));
    assert!(!serde_json::to_string(&record).unwrap().contains("hunter2"));
}

#[tokio::test]
async fn an_isolation_that_is_lost_turns_readiness_red() {
    let lost = Scripted::new(|_, _| async { Err(ExecutorError::unavailable("bwrap is gone")) });
    let record = assert_ending(lost, "unavailable", Some("SANDBOX_UNAVAILABLE")).await;
    assert_eq!(record.exit_code, None);
}

#[tokio::test]
async fn an_executor_that_overruns_is_abandoned_after_five_seconds() {
    let stuck = Scripted::new(|_, _| async { std::future::pending().await });
    let world = TestWorld::new(stuck).await;
    world.ready().await;
    let started = tokio::time::Instant::now();
    let call = Call { timeout_seconds: Some(1), ..call() };
    let answer = world.belljar.execute(&caller(), call).await.unwrap();
    let waited = started.elapsed();
    assert!(waited >= Duration::from_secs(6), "{waited:?}");
    assert_eq!((answer.record.status.as_str(), answer.record.abandoned), ("timeout", true));
    assert_eq!(world.belljar.meter().abandoned, 1);
    assert_eq!(world.belljar.slots_held(), 0);
    world.assert_trail_is_whole().await;
}

#[tokio::test]
async fn an_abandoned_task_is_counted_until_it_ends() {
    let (release, gate) = tokio::sync::watch::channel(false);
    let late = Scripted::new(move |_, _| {
        let mut gate = gate.clone();
        async move {
            drop(gate.wait_for(|open| *open).await);
            Ok(outcome(0))
        }
    });
    let world = TestWorld::new(late).await;
    world.ready().await;
    let call = Call { timeout_seconds: Some(1), ..call() };
    let answer = world.belljar.execute(&caller(), call).await.unwrap();
    assert_eq!(answer.record.status.as_str(), "timeout");
    assert_eq!(world.belljar.meter().abandoned, 1);
    release.send(true).unwrap();
    while world.belljar.meter().abandoned != 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test]
async fn output_over_the_cap_is_cut_again() {
    let draft = OptionsDraft { max_output_bytes: 5, ..options() };
    let loud = Scripted::new(|_, _| async { Ok(Outcome::exited(0, text("aaaé!"), text("bbbbb"))) });
    let world = TestWorld::with(loud, draft).await;
    world.ready().await;
    let answer = world.belljar.execute(&caller(), call()).await.unwrap();
    assert_eq!((answer.record.stdout.as_str(), answer.record.stdout_truncated), ("aaaé", true));
    assert_eq!((answer.record.stderr.as_str(), answer.record.stderr_truncated), ("bbbbb", false));
    assert_eq!(world.belljar.meter().truncations, 1);
}

#[tokio::test]
async fn a_slot_that_never_comes_free_is_capacity_exceeded() {
    let draft =
        OptionsDraft { max_concurrent_per_tenant: 1, max_concurrent_total: 1, slot_wait_seconds: 1, ..options() };
    let (release, gate) = tokio::sync::watch::channel(false);
    let slow = Scripted::new(move |_, _| {
        let mut gate = gate.clone();
        async move {
            drop(gate.wait_for(|open| *open).await);
            Ok(outcome(0))
        }
    });
    let world = TestWorld::with(slow, draft).await;
    world.ready().await;
    let first = world.belljar.start(caller(), call());
    while world.executor.calls() == 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let refusal = world.belljar.execute(&caller(), call()).await.unwrap_err();
    assert_eq!(refusal.code(), Code::CapacityExceeded);
    assert!(refusal.code().is_retryable() && refusal.retry_delay().is_some());
    assert_eq!(world.executor.calls(), 1);
    let outcomes = world.entries_of(Action::ScriptOutcome).await;
    assert_eq!(outcomes[0].facts()["status"], "not_started");
    assert_eq!(outcomes[0].facts()["error_kind"], "CAPACITY_EXCEEDED");
    release.send(true).unwrap();
    assert_eq!(first.wait().await.unwrap().record.status.as_str(), "success");
    world.assert_trail_is_whole().await;
}

#[tokio::test]
async fn a_grant_revoked_while_waiting_denies() {
    let draft = OptionsDraft { max_concurrent_per_tenant: 1, max_concurrent_total: 1, ..options() };
    let (release, gate) = tokio::sync::watch::channel(false);
    let held = Scripted::new(move |_, _| {
        let mut gate = gate.clone();
        async move {
            drop(gate.wait_for(|open| *open).await);
            Ok(outcome(0))
        }
    });
    let world = TestWorld::with(held, draft).await;
    let saved = world.save(&[("scripts/a.sh", "echo hello")]).await;
    let grant = world.grant(&saved, "scripts/a.sh").await;
    let first = world.belljar.start(caller(), call());
    let second = world.belljar.start(caller(), call());
    // One of them has its slot, and with it its grant was looked at again; the other waits.
    while world.entries_of(Action::ScriptRun).await.len() < 2 || world.executor.calls() == 0 {
        tokio::task::yield_now().await;
    }
    let revocation = belljar_core::service::Revocation::Id(grant.id);
    world.belljar.revoke(&caller(), revocation).await.unwrap();
    release.send(true).unwrap();
    let answers = [first.wait().await, second.wait().await];
    let denied =
        answers.iter().filter(|answer| answer.as_ref().is_err_and(|refusal| refusal.code() == Code::ScriptDenied));
    assert_eq!(denied.count(), 1);
    assert_eq!(world.executor.calls(), 1);
    world.assert_trail_is_whole().await;
}
