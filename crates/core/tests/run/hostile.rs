//! Executors that mean harm, or are merely broken: whatever they do, the run is on the record once, has one
//! outcome, gives its slot back, and leaves the next run alone.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use belljar_core::audit::Action;
use belljar_core::execution::ExecutionRecord;
use belljar_core::options::OptionsDraft;
use belljar_executor::wire::WireAnswer;
use belljar_executor::{Cancel, Captured, ExecutionRequest, ExecutorError, Outcome};
use tokio::sync::Notify;

use crate::support::{Scripted, TestWorld, call, caller, options, outcome};

type Answer = Result<Outcome, ExecutorError>;
type Harm = Pin<Box<dyn Future<Output = Answer> + Send>>;

/// One slot, and a time-out of a second.
fn narrow() -> OptionsDraft {
    OptionsDraft {
        max_concurrent_per_tenant: 1,
        max_concurrent_total: 1,
        timeout_default_seconds: 1,
        timeout_max_seconds: 1,
        max_output_bytes: 10,
        ..options()
    }
}

/// Does harm at the first call and is honest from then on.
fn at_first<F>(harm: impl Fn(ExecutionRequest, Cancel) -> F + Send + Sync + 'static) -> Scripted
where
    F: Future<Output = Answer> + Send + 'static,
{
    let first = Mutex::new(true);
    Scripted::new(move |request, cancel| -> Harm {
        if std::mem::take(&mut *first.lock().unwrap()) {
            Box::pin(harm(request, cancel))
        } else {
            Box::pin(async { Ok(outcome(0)) })
        }
    })
}

/// What was done to the world is contained: the next run of the tenant gets in and is honest.
async fn assert_contained(world: &TestWorld, record: &ExecutionRecord) {
    assert_eq!((world.belljar.slots_held(), world.belljar.meter().running), (0, 0), "{record:?}");
    let next = world.belljar.execute(&caller(), call()).await.unwrap();
    assert_eq!(next.record.status.as_str(), "success");
    for action in [Action::ScriptRun, Action::ScriptOutcome] {
        let of_run = world.entries_of(action).await;
        let of_run = of_run.iter().filter(|entry| entry.facts()["execution_id"] == record.execution_id.as_str());
        assert_eq!(of_run.count(), 1, "{action:?} {record:?}");
    }
    let kept = world.belljar.execution(&caller(), &record.execution_id).await.unwrap();
    assert_eq!(kept, *record);
    world.assert_trail_is_whole().await;
}

/// A run under such an executor, contained.
async fn run_of<F>(harm: impl Fn(ExecutionRequest, Cancel) -> F + Send + Sync + 'static) -> ExecutionRecord
where
    F: Future<Output = Answer> + Send + 'static,
{
    let world = TestWorld::with(at_first(harm), narrow()).await;
    world.ready().await;
    let answer = world.belljar.execute(&caller(), call()).await.unwrap();
    assert!(answer.recorded);
    assert_contained(&world, &answer.record).await;
    answer.record
}

fn assert_fault(record: &ExecutionRecord, kind: &str) {
    let told = (record.status.as_str(), record.error_kind.as_deref(), record.fault_kind.as_deref());
    assert_eq!(told, ("fault", Some("EXECUTOR_FAULT"), Some(kind)));
    assert_eq!((record.exit_code, record.stdout.as_str()), (None, ""));
}

#[tokio::test]
async fn panics() {
    let at_once = run_of(|_, _| -> std::future::Ready<Answer> { panic!("while the future is made") }).await;
    assert_fault(&at_once, "Panic");
    let later = run_of(|_, _| async {
        tokio::task::yield_now().await;
        panic!("after it was awaited")
    });
    assert_fault(&later.await, "Panic");
    let odd = run_of(|_, _| async { std::panic::panic_any(7_u8) });
    assert_fault(&odd.await, "Panic");
}

#[tokio::test]
async fn unwinds_with_a_lock_held() {
    let lock = Arc::new(Mutex::new(()));
    let held = Arc::clone(&lock);
    let record = run_of(move |_, _| {
        let held = Arc::clone(&held);
        async move {
            let _held = held.lock().unwrap();
            panic!("a poisoned lock")
        }
    });
    assert_fault(&record.await, "Panic");
    assert!(lock.is_poisoned());
}

/// An error whose every use is a trap.
#[derive(Debug)]
struct Trap(&'static str);

impl std::fmt::Display for Trap {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        assert_ne!(self.0, "told", "a trap");
        formatter.write_str("a trap")
    }
}

impl std::error::Error for Trap {
    /// Its own cause, for ever.
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        (self.0 == "endless").then_some(self)
    }
}

impl Drop for Trap {
    fn drop(&mut self) {
        assert!(self.0 != "dropped" || std::thread::panicking(), "a trap");
    }
}

#[tokio::test]
async fn gives_an_error_that_panics_when_it_is_told_or_dropped_or_never_ends() {
    for (trap, kind) in [("told", "Panic"), ("dropped", "Panic"), ("endless", "Trap")] {
        assert_fault(&run_of(move |_, _| async move { Err(ExecutorError::new("Trap", Trap(trap))) }).await, kind);
    }
}

/// What a panic carries panics again when it is dropped.
#[tokio::test]
async fn panics_with_a_payload_that_panics() {
    struct Payload;
    impl Drop for Payload {
        fn drop(&mut self) {
            panic!("again");
        }
    }
    assert_fault(&run_of(|_, _| async { std::panic::panic_any(Payload) }).await, "Panic");
}

#[tokio::test]
async fn answers_cancelled_though_nobody_cancelled() {
    assert_fault(&run_of(|_, _| async { Err(ExecutorError::cancelled()) }).await, "Cancelled");
    // Firing the token that it was given is not the caller's doing.
    let fires = run_of(|_, cancel: Cancel| async move {
        cancel.fire();
        Err(ExecutorError::cancelled())
    });
    assert_fault(&fires.await, "Cancelled");
}

#[tokio::test]
async fn gives_an_error_of_its_own_that_tells_too_much() {
    let record = run_of(|_, _| async { Err(ExecutorError::new("RunnerError", "password=hunter2")) }).await;
    assert_fault(&record, "RunnerError");
    assert!(!serde_json::to_string(&record).unwrap().contains("hunter2"));
}

/// Answers over the wire that are no outcome never become one.
#[tokio::test]
async fn answers_over_the_wire_with_both_or_neither_of_exit_and_time_out() {
    let answer = |exit: &str, timed_out: bool| {
        format!(
            r#"{{"exitCode":{exit},"standardOutput":"fake","standardError":"","truncated":false,"timedOut":{timed_out}}}"#
        )
    };
    for text in [answer("0", true), answer("null", false), "{}".into(), "<html>".into()] {
        let record = run_of(move |request, _| {
            let text = text.clone();
            async move {
                let answer: WireAnswer = serde_json::from_str(&text).map_err(ExecutorError::fault)?;
                Ok(answer.into_outcome(request.parts().max_output_bytes))
            }
        });
        assert_fault(&record.await, "Fault");
    }
    let honest = answer("0", false);
    let record = run_of(move |request, _| {
        let answer: WireAnswer = serde_json::from_str(&honest).unwrap();
        let outcome = answer.into_outcome(request.parts().max_output_bytes);
        async { Ok(outcome) }
    });
    assert_eq!(record.await.stdout, "fake");
}

#[tokio::test]
async fn writes_more_than_the_cap_and_does_not_say_so() {
    // Ten bytes are kept of each stream: whole characters, and exactly the cap is not truncation.
    for (written, kept, cut) in [
        ("0123456789", "0123456789", false),
        ("0123456789x", "0123456789", true),
        ("012345678\u{20AC}", "012345678", true),
        ("0123456\u{20AC}", "0123456\u{20AC}", false),
        ("0123456\u{20AC}\u{20AC}", "0123456\u{20AC}", true),
    ] {
        let record = run_of(move |_, _| async move {
            let text = |text: &str| Captured { text: text.into(), truncated: false };
            Ok(Outcome::exited(0, text(written), text(written)))
        });
        let record = record.await;
        assert_eq!((record.stdout.as_str(), record.stdout_truncated), (kept, cut), "{written}");
        assert_eq!((record.stderr.as_str(), record.stderr_truncated), (kept, cut), "{written}");
    }
    let large = run_of(|_, _| async {
        let text = || Captured { text: "x".repeat(64 << 20), truncated: false };
        Ok(Outcome::exited(0, text(), text()))
    });
    assert_eq!(large.await.stdout.len(), 10);
}

/// Returns long after the host stopped waiting: the slot is free before, the gauge tells, and the late outcome
/// changes nothing.
#[tokio::test]
async fn comes_back_after_the_host_stopped_waiting() {
    let until = Arc::new(Notify::new());
    let held = Arc::clone(&until);
    let late = move |_, _: Cancel| {
        let until = Arc::clone(&held);
        async move {
            until.notified().await;
            Ok(outcome(0))
        }
    };
    let world = TestWorld::with(at_first(late), narrow()).await;
    world.ready().await;
    let begun = tokio::time::Instant::now();
    let record = world.belljar.execute(&caller(), call()).await.unwrap().record;
    assert!(begun.elapsed() >= Duration::from_secs(6), "the time-out and five seconds");
    assert_eq!((record.status.as_str(), record.error_kind.as_deref()), ("timeout", Some("EXECUTION_TIMEOUT")));
    assert!(record.abandoned && record.exit_code.is_none());
    assert_eq!(world.belljar.meter().abandoned, 1);
    assert_contained(&world, &record).await;
    until.notify_one();
    while world.belljar.meter().abandoned > 0 {
        tokio::task::yield_now().await;
    }
    assert_contained(&world, &record).await;
}

/// Ignores the caller's cancellation and finishes later.
#[tokio::test]
async fn ignores_the_cancel_and_finishes_later() {
    let (started, until) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (inside, held) = (Arc::clone(&started), Arc::clone(&until));
    let deaf = move |_, _: Cancel| {
        let (started, until) = (Arc::clone(&inside), Arc::clone(&held));
        async move {
            started.notify_one();
            until.notified().await;
            Ok(outcome(0))
        }
    };
    let draft = OptionsDraft { timeout_default_seconds: 30, timeout_max_seconds: 30, ..narrow() };
    let world = TestWorld::with(at_first(deaf), draft).await;
    world.ready().await;
    let running = world.belljar.start(caller(), call());
    started.notified().await;
    running.cancel().fire();
    let record = running.wait().await.unwrap().record;
    assert_eq!((record.status.as_str(), record.abandoned), ("cancelled", true));
    assert_contained(&world, &record).await;
    until.notify_one();
    while world.belljar.meter().abandoned > 0 {
        tokio::task::yield_now().await;
    }
    assert_contained(&world, &record).await;
}

/// Blocks the thread it runs on. The host has another one.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn blocks_its_thread() {
    let (release, blocked) = std::sync::mpsc::channel::<()>();
    let blocked = Arc::new(Mutex::new(blocked));
    let held = Arc::clone(&blocked);
    let blocks = move |_, _: Cancel| {
        let blocked = Arc::clone(&held);
        async move {
            assert!(blocked.lock().unwrap().recv().is_err(), "the other end is dropped");
            Ok(outcome(0))
        }
    };
    let world = TestWorld::with(at_first(blocks), narrow()).await;
    world.ready().await;
    let record = world.belljar.execute(&caller(), call()).await.unwrap().record;
    assert_eq!((record.status.as_str(), record.abandoned), ("timeout", true));
    assert_contained(&world, &record).await;
    drop(release);
    while world.belljar.meter().abandoned > 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// Many at once, each in its own way, over two slots.
#[tokio::test]
async fn all_of_them_at_once() {
    let count = Arc::new(Mutex::new(0_u32));
    let mixed = Scripted::new(move |_, cancel| -> Harm {
        let number = {
            let mut count = count.lock().unwrap();
            *count += 1;
            *count
        };
        match number % 4 {
            0 => Box::pin(async { panic!("boom") }),
            1 => Box::pin(async { Err(ExecutorError::cancelled()) }),
            2 => Box::pin(async move {
                cancel.fire();
                Ok(outcome(3))
            }),
            _ => Box::pin(async { Ok(outcome(0)) }),
        }
    });
    let draft = OptionsDraft { max_concurrent_per_tenant: 2, max_concurrent_total: 2, ..narrow() };
    let world = TestWorld::with(mixed, draft).await;
    world.ready().await;
    let runs: Vec<_> = (0..40)
        .map(|_| {
            let belljar = world.belljar.clone();
            tokio::spawn(async move { belljar.execute(&caller(), call()).await.unwrap().record.status.as_str() })
        })
        .collect();
    let mut ended = std::collections::BTreeMap::new();
    for run in runs {
        *ended.entry(run.await.unwrap()).or_insert(0) += 1;
    }
    assert_eq!(ended, [("fault", 20), ("failed", 10), ("success", 10)].into());
    assert_eq!((world.belljar.slots_held(), world.belljar.meter().running, world.executor.calls()), (0, 0, 40));
    assert_eq!(world.entries_of(Action::ScriptOutcome).await.len(), 40);
    world.assert_trail_is_whole().await;
}
