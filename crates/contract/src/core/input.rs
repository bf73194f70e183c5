//! Standard input that nobody reads, or not to its end.

use belljar_executor::Ending;

use crate::trial::{Trial, expect_ending, expect_text};
use crate::{Body, Checked, Subject};

/// More than any pipe holds.
const LARGE: usize = 1 << 20;

/// More input than a pipe holds, which the script never reads, does not hold up the time-out.
///
/// # Errors
/// Where the executor deviates.
pub async fn input_never_read_does_not_stall(subject: &Subject) -> Checked {
    let trial = Trial::of(subject, Body::Sleep)?.input(&large_input()).timeout(2);
    expect_ending(&trial.run().await?, Ending::TimedOut)
}

/// A script that closes its input, or ends, before it was written is a normal one.
///
/// # Errors
/// Where the executor deviates.
pub async fn input_closed_early_is_normal(subject: &Subject) -> Checked {
    for (body, printed) in [(Body::CloseInput, "done\n"), (Body::Content, "approved\n")] {
        let output = Trial::of(subject, body)?.input(&large_input()).output().await?;
        expect_text("standard output", &output, printed)?;
    }
    Ok(())
}

fn large_input() -> String {
    format!("\"{}\"", "x".repeat(LARGE))
}
