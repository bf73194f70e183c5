//! What a script starts ends with it.

use std::time::Duration;

use belljar_executor::{Cancel, Ending};
use tokio::time::Instant;

use super::{WELL_BEFORE, expect_cancelled};
use crate::trial::{EXITED_0, Trial, expect_ending, expect_text, told, unique_word};
use crate::verdict::demand;
use crate::{Body, Checked, Deviation, Subject};

/// A child that keeps standard output open does not hold up the run that left it.
///
/// # Errors
/// Where the executor deviates.
pub async fn child_holding_output_does_not_stall(subject: &Subject) -> Checked {
    let begun = Instant::now();
    let output = Trial::of(subject, Body::HoldOutput)?.timeout(10).output().await?;
    let taken = begun.elapsed();
    expect_text("standard output", &output, "done\n")?;
    demand(taken < Duration::from_secs(8), "an end with the script, not with its child", || format!("{taken:?}"))
}

/// A process that a script leaves behind is gone when the run has ended.
///
/// # Errors
/// Where the executor deviates; skipped where the processes of a run cannot be seen.
pub async fn daemon_left_behind_is_gone(subject: &Subject) -> Checked {
    let word = unique_word();
    let run = Trial::of(subject, Body::Daemon)?.word(&word).run();
    tokio::pin!(run);
    let mut seen = false;
    let outcome = loop {
        tokio::select! {
            outcome = &mut run => break outcome?,
            () = tokio::time::sleep(Duration::from_millis(25)), if !seen => seen = subject.sees(&word),
        }
    };
    let left = subject.sees(&word);
    expect_ending(&outcome, EXITED_0)?;
    demand(!left, "nothing left of the run", || "the process that it left behind".to_owned())?;
    if seen { Ok(()) } else { Err(unseen()) }
}

/// A script that ignores the polite signals still ends at its time-out.
///
/// # Errors
/// Where the executor deviates.
pub async fn ignored_term_still_ends(subject: &Subject) -> Checked {
    let begun = Instant::now();
    let outcome = Trial::of(subject, Body::IgnoreTerm)?.timeout(2).run().await?;
    let taken = begun.elapsed();
    expect_ending(&outcome, Ending::TimedOut)?;
    demand(taken < WELL_BEFORE, "an end well before the script's", || format!("{taken:?}"))
}

/// A request whose token has fired already is `Cancelled`.
///
/// # Errors
/// Where the executor deviates.
pub async fn cancel_before_start_runs_nothing(subject: &Subject) -> Checked {
    let cancel = Cancel::new();
    cancel.fire();
    expect_cancelled(&Trial::of(subject, Body::Content)?.execute(cancel).await?)
}

/// When a cancelled run answers, its whole process tree is gone.
///
/// # Errors
/// Where the executor deviates; skipped where the processes of a run cannot be seen.
pub async fn cancelled_run_leaves_nothing(subject: &Subject) -> Checked {
    let word = unique_word();
    let cancel = Cancel::new();
    let run = Trial::of(subject, Body::Stay)?.word(&word).execute(cancel.clone());
    let fire = async {
        let seen = appears(subject, &word).await;
        cancel.fire();
        seen
    };
    let (answer, seen) = tokio::join!(run, fire);
    let left = subject.sees(&word);
    // What it answers is the matter of another clause; that it answers is of this one.
    let _ = answer?;
    demand(!left, "nothing left of the run when it answers", || "a process of it".to_owned())?;
    if seen { Ok(()) } else { Err(unseen()) }
}

/// A run whose future is dropped is killed.
///
/// # Errors
/// Where the executor deviates; skipped where the processes of a run cannot be seen.
pub async fn dropped_run_leaves_nothing(subject: &Subject) -> Checked {
    let word = unique_word();
    let run = Trial::of(subject, Body::Stay)?.word(&word).execute(Cancel::new());
    let seen = tokio::select! {
        answer = run => return Err(match answer? {
            Ok(outcome) => Deviation::fail("a script that stays", format!("{:?}", outcome.ending())),
            Err(error) => Deviation::fail("a script that stays", told(&error)),
        }),
        seen = appears(subject, &word) => seen,
    };
    if !seen {
        return Err(unseen());
    }
    for _ in 0..250 {
        if !subject.sees(&word) {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Err(Deviation::fail("nothing left of a run that was dropped", "a process of it after five seconds"))
}

fn unseen() -> Deviation {
    Deviation::skip("the processes of a run cannot be seen from here; see `Subject::sight`")
}

/// Waits until a process with the word is there, at most ten seconds.
async fn appears(subject: &Subject, word: &str) -> bool {
    for _ in 0..400 {
        if subject.sees(word) {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    false
}
