//! A call that is sent again under the same key runs once.

use std::sync::Arc;
use std::time::Duration;

use belljar_core::audit::Action;
use belljar_core::caller::{Caller, Scope};
use belljar_core::code::Code;
use belljar_core::once::IdempotencyKey;
use belljar_core::options::OptionsDraft;
use belljar_core::run::Call;
use belljar_executor::{Captured, Outcome};
use tokio::sync::Notify;

use crate::support::{Scripted, TestWorld, call, caller, options};

fn keyed(key: &str) -> Call {
    Call { idempotency_key: Some(IdempotencyKey::parse(key).unwrap()), ..call() }
}

fn says(text: &'static str) -> Scripted {
    Scripted::new(move |_, _| async move {
        let stdout = Captured { text: text.to_owned(), ..Captured::default() };
        Ok(Outcome::exited(3, stdout, Captured::default()))
    })
}

#[test]
fn a_key_is_short_visible_ascii() {
    for good in ["a", "7d0b-_.:/", &"k".repeat(128)] {
        assert!(IdempotencyKey::parse(good).is_ok(), "{good}");
    }
    for bad in ["", " ", "a b", "ä", "a\n", &"k".repeat(129)] {
        assert!(IdempotencyKey::parse(bad).is_err(), "{bad}");
    }
}

#[tokio::test]
async fn the_second_call_gets_the_first_ones_answer() {
    let world = TestWorld::new(says("{\"a\": 1}")).await;
    world.ready().await;
    let first = world.belljar.execute(&caller(), keyed("one")).await.unwrap();
    let second = world.belljar.execute(&caller(), keyed("one")).await.unwrap();
    assert_eq!((first.replayed, second.replayed, second.recorded), (false, true, true));
    assert_eq!(second.record, first.record);
    assert_eq!(
        (second.output_data.clone(), second.output_data),
        (first.output_data, Some(serde_json::json!({"a": 1})))
    );
    assert_eq!((world.executor.calls(), world.entries_of(Action::ScriptRun).await.len()), (1, 1));
    // Another key and no key are other calls.
    for other in [keyed("two"), call()] {
        assert!(!world.belljar.execute(&caller(), other).await.unwrap().replayed);
    }
    assert_eq!(world.executor.calls(), 3);
    world.assert_trail_is_whole().await;
}

#[tokio::test]
async fn another_call_under_the_same_key_conflicts() {
    let world = TestWorld::new(Scripted::exits(0)).await;
    world.ready().await;
    let json = |text: &str| Some(text.to_owned());
    let first = Call { arguments_json: json("{\"a\":1,\"b\":2}"), ..keyed("one") };
    world.belljar.execute(&caller(), first).await.unwrap();
    let turned = Call { arguments_json: json("{\"b\":2,\"a\":1}"), ..keyed("one") };
    assert!(world.belljar.execute(&caller(), turned).await.unwrap().replayed, "the order of properties means nothing");
    for other in [
        keyed("one"),
        Call { arguments_json: json("{\"a\":1,\"b\":3}"), ..keyed("one") },
        Call { argv: vec!["x".into()], arguments_json: json("{\"a\":1,\"b\":2}"), ..keyed("one") },
        Call { timeout_seconds: Some(7), arguments_json: json("{\"a\":1,\"b\":2}"), ..keyed("one") },
        Call { script: "scripts/other.sh".into(), arguments_json: json("{\"a\":1,\"b\":2}"), ..keyed("one") },
    ] {
        assert_eq!(world.belljar.execute(&caller(), other).await.unwrap_err().code(), Code::Conflict);
    }
    assert_eq!(world.executor.calls(), 1);
}

#[tokio::test]
async fn a_key_belongs_to_its_caller_and_is_remembered_for_a_day() {
    let world = TestWorld::new(Scripted::exits(0)).await;
    world.ready().await;
    world.belljar.execute(&caller(), keyed("one")).await.unwrap();
    let other = Caller::authenticated(caller().tenant().clone(), "eve", [], [Scope::MemoryRead, Scope::MemoryWrite]);
    let theirs = world.belljar.execute(&other, Call { argv: vec!["x".into()], ..keyed("one") }).await;
    assert_ne!(theirs.unwrap_err().code(), Code::Conflict);
    let reader = Caller::authenticated(caller().tenant().clone(), caller().subject(), [], [Scope::MemoryRead]);
    assert_eq!(world.belljar.execute(&reader, keyed("one")).await.unwrap_err().code(), Code::AccessDenied);
    world.clock.advance_seconds(24 * 3600);
    assert!(world.belljar.execute(&caller(), keyed("one")).await.unwrap().replayed);
    world.clock.advance_seconds(1);
    assert!(!world.belljar.execute(&caller(), keyed("one")).await.unwrap().replayed);
    assert_eq!(world.executor.calls(), 2);
}

#[tokio::test]
async fn who_sends_it_while_the_first_still_runs_waits_for_its_answer() {
    let gate = Arc::new(Notify::new());
    let waiting = gate.clone();
    let executor = Scripted::new(move |_, _| {
        let gate = waiting.clone();
        async move {
            gate.notified().await;
            Ok(crate::support::outcome(0))
        }
    });
    let world = TestWorld::new(executor).await;
    world.ready().await;
    let first = world.belljar.start(caller(), keyed("one"));
    while world.executor.calls() == 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let second = world.belljar.start(caller(), keyed("one"));
    // Whoever gives up waiting does not end the run.
    let third = world.belljar.start(caller(), keyed("one"));
    third.cancel().fire();
    assert_eq!(third.wait().await.unwrap_err().code(), Code::Cancelled);
    gate.notify_one();
    let (first, second) = (first.wait().await.unwrap(), second.wait().await.unwrap());
    assert_eq!((first.record.clone(), first.replayed), (second.record, !second.replayed));
    assert_eq!((first.record.status.as_str(), world.executor.calls()), ("success", 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_at_the_same_moment_one_runs() {
    let world = TestWorld::new(says("x")).await;
    world.ready().await;
    let runs: Vec<_> = (0..16).map(|_| world.belljar.start(caller(), keyed("one"))).collect();
    let mut replayed = 0;
    for run in runs {
        replayed += usize::from(run.wait().await.unwrap().replayed);
    }
    assert_eq!((replayed, world.executor.calls(), world.entries_of(Action::ScriptRun).await.len()), (15, 1, 1));
    world.assert_trail_is_whole().await;
}

#[tokio::test]
async fn what_was_denied_or_not_started_stores_nothing() {
    let busy = Scripted::new(|_, cancel| async move {
        cancel.fired().await;
        Err(belljar_executor::ExecutorError::cancelled())
    });
    let narrow = OptionsDraft { max_concurrent_per_tenant: 1, max_concurrent_total: 1, ..options() };
    let world = TestWorld::with(busy, narrow).await;
    let saved = world.save(&[("scripts/a.sh", "echo hello")]).await;
    let denied = Call { timeout_seconds: Some(9), ..keyed("one") };
    assert_eq!(world.belljar.execute(&caller(), denied).await.unwrap_err().code(), Code::ScriptDenied);
    world.grant(&saved, "scripts/a.sh").await;
    let holder = world.belljar.start(caller(), call());
    while world.executor.calls() == 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    for attempt in 1..=2 {
        let waiting = world.belljar.start(caller(), Call { timeout_seconds: Some(attempt), ..keyed("one") });
        while i64::try_from(world.entries_of(Action::ScriptRun).await.len()).unwrap() <= attempt {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        waiting.cancel().fire();
        assert_eq!(waiting.wait().await.unwrap_err().code(), Code::Cancelled);
    }
    holder.cancel().fire();
    holder.wait().await.unwrap();
    let running = world.belljar.start(caller(), keyed("one"));
    while world.executor.calls() < 2 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    running.cancel().fire();
    assert_eq!(running.wait().await.unwrap().record.status.as_str(), "cancelled");
    assert!(world.belljar.execute(&caller(), keyed("one")).await.unwrap().replayed, "it ran, and was cancelled");
    world.assert_trail_is_whole().await;
}
