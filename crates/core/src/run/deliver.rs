//! The executor: called once, in a task of its own, waited for at most the time-out plus five seconds.

use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use belljar_executor::{Cancel, Cause, ErrorKind, ExecutorError, Outcome, Unavailable};
use tokio::task::{JoinError, JoinHandle};
use tokio::time::{Instant, sleep_until};

use super::{Admitted, Recorded, World};
use crate::code::Code;
use crate::execution::ExecutionRecord;
use crate::time::Timestamp;

/// How long the host waits past the time-out, and for a cancelled run to confirm its end.
const GRACE: Duration = Duration::from_secs(5);

/// How many causes of an executor's error are told: a stranger's error may be its own cause.
const CAUSES: usize = 16;

/// How a recorded run ended, before it is kept.
#[derive(Debug)]
pub(crate) enum Ended {
    Outcome(Box<Outcome>),
    /// The caller cancelled; `abandoned` when the executor did not confirm in time.
    Cancelled {
        abandoned: bool,
    },
    /// The executor overran the time-out and the grace.
    Overran,
    Fault(&'static str),
    Unavailable,
    NotStarted(Code),
}

/// A run that is over.
#[derive(Debug)]
pub struct Finished {
    pub(super) record: ExecutionRecord,
    pub(super) ended: Ended,
    pub(super) started_at: Option<Timestamp>,
}

impl Finished {
    pub(super) fn new(recorded: Recorded, ended: Ended) -> Self {
        Self { record: recorded.record, ended, started_at: None }
    }

    /// A recorded run whose own step of the chain panicked: its record is kept all the same.
    pub(super) fn panicked(record: ExecutionRecord, panic: &JoinError) -> Self {
        tracing::error!(%panic, execution_id = %record.execution_id, "the run itself panicked");
        Self { record, ended: Ended::Fault("Panic"), started_at: None }
    }
}

type Answered = Result<Result<Outcome, Failure>, JoinError>;
type Running = JoinHandle<Result<Outcome, Failure>>;

/// Hands the run to the executor, watches the deadline and caps both streams again. The slot is free
/// when this answers.
pub async fn deliver(world: &World, admitted: Admitted, cancel: &Cancel) -> Finished {
    let Admitted { recorded, slot } = admitted;
    let Recorded { record, request } = recorded;
    let started_at = Some(world.ports.clock.now());
    let now = Instant::now();
    // The options bound every time-out; one that the clock cannot hold would end at once rather than never.
    let deadline = request.parts().timeout.checked_add(GRACE).and_then(|wait| now.checked_add(wait)).unwrap_or(now);
    let cap = request.parts().max_output_bytes;
    // The executor gets a token of its own: at the deadline it fires without the caller having cancelled.
    let token = cancel.child();
    let executor = Arc::clone(&world.executor);
    let executor_token = token.clone();
    let counted = world.meter.count_running();
    let mut running = tokio::spawn(async move { executor.execute(request, executor_token).await.map_err(Failure::of) });
    let ended = wait(&mut running, cancel, deadline).await;
    token.fire();
    drop(counted);
    drop(slot);
    let ended = match ended {
        Waited::Answered(answer) => judge(world, *answer, cancel.has_fired()),
        Waited::Overran => abandon(world, running, Ended::Overran),
        Waited::CancelUnconfirmed => abandon(world, running, Ended::Cancelled { abandoned: true }),
    };
    let ended = match ended {
        Ended::Outcome(outcome) => Ended::Outcome(Box::new(outcome.capped(cap))),
        other => other,
    };
    Finished { record, ended, started_at }
}

/// An executor's error in plain words. The error itself holds a stranger's code, which can panic when it is
/// told or dropped: both happen in the executor's task, where that is a fault like any other.
#[derive(Debug)]
struct Failure {
    kind: &'static str,
    cause: String,
    unavailable: Option<Unavailable>,
}

impl Failure {
    #[expect(clippy::needless_pass_by_value, reason = "the error must end here")]
    fn of(error: ExecutorError) -> Self {
        let causes = std::iter::successors(error.source(), |cause| (*cause).source());
        let unavailable = error.source().and_then(|source| source.downcast_ref::<Unavailable>()).cloned();
        let cause = causes.take(CAUSES).fold(error.to_string(), |text, cause| format!("{text}: {cause}"));
        Self { kind: error.kind(), cause, unavailable }
    }
}

enum Waited {
    Answered(Box<Answered>),
    Overran,
    CancelUnconfirmed,
}

async fn wait(running: &mut Running, cancel: &Cancel, deadline: Instant) -> Waited {
    tokio::select! {
        biased;
        answer = &mut *running => return Waited::Answered(Box::new(answer)),
        () = sleep_until(deadline) => return Waited::Overran,
        () = cancel.fired() => {}
    }
    let last = deadline.min(Instant::now() + GRACE);
    tokio::select! {
        biased;
        answer = running => Waited::Answered(Box::new(answer)),
        () = sleep_until(last) => Waited::CancelUnconfirmed,
    }
}

fn judge(world: &World, answer: Answered, cancelled: bool) -> Ended {
    let failure = match answer {
        Ok(Ok(outcome)) => return Ended::Outcome(Box::new(outcome)),
        Ok(Err(failure)) => failure,
        Err(panic) => {
            tracing::error!(%panic, "the executor panicked");
            discard(panic);
            return Ended::Fault("Panic");
        }
    };
    let Failure { kind, cause, unavailable } = failure;
    match kind {
        ErrorKind::CANCELLED if cancelled => Ended::Cancelled { abandoned: false },
        ErrorKind::UNAVAILABLE => {
            tracing::error!(cause, "the isolation was lost between the check and the start");
            world.health.lost(unavailable.unwrap_or_else(|| Unavailable {
                cause: Cause::Other,
                control: None,
                message: cause,
                remedy: "run `belljar doctor`".into(),
            }));
            Ended::Unavailable
        }
        kind => {
            tracing::error!(kind, cause, "the executor failed");
            Ended::Fault(kind)
        }
    }
}

/// Drops what a panic of the executor left. Its payload is a stranger's too and can panic again; what that
/// leaves is not touched any more.
fn discard(panic: JoinError) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
        std::mem::forget(payload);
    }
}

/// Stops waiting. The task is counted until it really ends.
fn abandon(world: &World, running: Running, ended: Ended) -> Ended {
    let counted = world.meter.count_abandoned();
    tokio::spawn(async move {
        if let Err(panic) = running.await {
            discard(panic);
        }
        drop(counted);
    });
    ended
}
