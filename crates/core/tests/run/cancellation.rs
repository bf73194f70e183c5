//! A caller that goes away: the run is cancelled, and kept.

use std::time::Duration;

use belljar_core::audit::Action;
use belljar_core::code::Code;
use belljar_core::options::OptionsDraft;
use belljar_executor::ExecutorError;

use crate::support::{Scripted, TestWorld, call, caller, options, outcome};

/// Ends as an executor must: in `Cancelled` once the token fires.
fn obedient() -> Scripted {
    Scripted::new(|_, cancel| async move {
        cancel.fired().await;
        Err(ExecutorError::cancelled())
    })
}

async fn until_called(world: &TestWorld) {
    while world.executor.calls() == 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test]
async fn a_cancelled_run_is_confirmed_and_kept() {
    let world = TestWorld::new(obedient()).await;
    world.ready().await;
    let running = world.belljar.start(caller(), call());
    until_called(&world).await;
    running.cancel().fire();
    let record = running.wait().await.unwrap().record;
    assert_eq!(
        (record.status.as_str(), record.error_kind.as_deref(), record.abandoned),
        ("cancelled", Some("CANCELLED"), false)
    );
    assert_eq!(world.belljar.slots_held(), 0);
    world.assert_trail_is_whole().await;
}

#[tokio::test]
async fn a_dropped_call_still_reaches_its_record() {
    let world = TestWorld::new(obedient()).await;
    world.ready().await;
    let running = world.belljar.start(caller(), call());
    until_called(&world).await;
    drop(running);
    while world.entries_of(Action::ScriptOutcome).await.is_empty() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert_eq!(world.entries_of(Action::ScriptOutcome).await[0].facts()["status"], "cancelled");
    world.assert_trail_is_whole().await;
}

#[tokio::test]
async fn an_executor_that_ignores_the_cancel_is_abandoned() {
    let deaf = Scripted::new(|_, _| async { std::future::pending().await });
    let world = TestWorld::new(deaf).await;
    world.ready().await;
    let running = world.belljar.start(caller(), call());
    until_called(&world).await;
    let asked = tokio::time::Instant::now();
    running.cancel().fire();
    let record = running.wait().await.unwrap().record;
    let waited = asked.elapsed();
    assert!(waited >= Duration::from_secs(5), "{waited:?}");
    assert_eq!((record.status.as_str(), record.abandoned), ("cancelled", true));
    assert_eq!(world.belljar.meter().abandoned, 1);
    assert_eq!(world.belljar.slots_held(), 0);
}

#[tokio::test]
async fn an_outcome_that_comes_despite_the_cancel_counts() {
    let finishes = Scripted::new(|_, cancel| async move {
        cancel.fired().await;
        Ok(outcome(0))
    });
    let world = TestWorld::new(finishes).await;
    world.ready().await;
    let running = world.belljar.start(caller(), call());
    until_called(&world).await;
    running.cancel().fire();
    assert_eq!(running.wait().await.unwrap().record.status.as_str(), "success");
}

#[tokio::test]
async fn cancelled_while_waiting_for_a_slot_nothing_starts() {
    let draft = OptionsDraft { max_concurrent_per_tenant: 1, max_concurrent_total: 1, ..options() };
    let world = TestWorld::with(obedient(), draft).await;
    world.ready().await;
    let first = world.belljar.start(caller(), call());
    until_called(&world).await;
    let second = world.belljar.start(caller(), call());
    while world.entries_of(Action::ScriptRun).await.len() < 2 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    second.cancel().fire();
    assert_eq!(second.wait().await.unwrap_err().code(), Code::Cancelled);
    assert_eq!(world.executor.calls(), 1);
    first.cancel().fire();
    first.wait().await.unwrap();
    assert_eq!(world.belljar.slots_held(), 0);
    world.assert_trail_is_whole().await;
}
