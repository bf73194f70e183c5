//! What the drivers of this project answer, in the words of the seam.

use belljar_executor::{Cause, ExecutorError, Outcome, Unavailable};
use belljar_sandbox::{Finished, RunEnding, RunError};

pub(crate) fn outcome_of(finished: Finished) -> Outcome {
    let Finished { ending, stdout, stderr, limits_hit, usage } = finished;
    let outcome = match ending {
        RunEnding::Exited(code) => Outcome::exited(code, stdout, stderr),
        RunEnding::Signalled(signal) => Outcome::signalled(signal, stdout, stderr),
        RunEnding::TimedOut => Outcome::timed_out(stdout, stderr),
    };
    let outcome = outcome.with_limits_hit(limits_hit);
    match usage {
        Some(usage) => outcome.with_usage(usage),
        None => outcome,
    }
}

pub(crate) fn error_of(error: RunError) -> ExecutorError {
    match error {
        RunError::Unavailable(unavailable) => ExecutorError::unavailable(unavailable),
        RunError::Cancelled => ExecutorError::cancelled(),
        RunError::Fault(message) => ExecutorError::fault(message),
    }
}

/// Looks at the host on a thread that may block.
pub(crate) async fn opened<T: Send + 'static>(
    open: impl FnOnce() -> Result<T, Unavailable> + Send + 'static,
) -> Result<T, Unavailable> {
    tokio::task::spawn_blocking(open).await.unwrap_or_else(|error| {
        Err(Unavailable {
            cause: Cause::Other,
            control: None,
            message: format!("looking at the host failed: {error}"),
            remedy: "look for the cause in the log of the service".to_owned(),
        })
    })
}
