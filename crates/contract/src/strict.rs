//! What tells a careful executor from a working one.

use std::time::Duration;

use belljar_executor::{Cancel, Ending, ErrorKind, Interpreter, Origin};
use tokio::time::Instant;

use crate::core::{WELL_BEFORE, expect_cancelled};
use crate::trial::{EXITED_0, HostFile, Trial, expect_ending, expect_text, shown, told, unique_word};
use crate::verdict::demand;
use crate::{Body, Checked, Deviation, Subject};

/// More than any pipe holds.
const LARGE: usize = 1 << 20;

/// The cap is counted in UTF-8 bytes: one below and the cap itself are whole, one above is cut, and a
/// character that the cap would split is dropped.
///
/// # Errors
/// Where the executor deviates, as in every clause.
pub async fn cap_is_exact(subject: &Subject) -> Checked {
    for (written, kept) in [
        ("\"\u{20AC}\u{20AC}\u{20AC}\"", "\"\u{20AC}\u{20AC}\u{20AC}\""),
        ("\"\u{20AC}\u{20AC}\u{20AC}a\"", "\"\u{20AC}\u{20AC}\u{20AC}a\""),
        ("\"\u{20AC}\u{20AC}\u{20AC}ab\"", "\"\u{20AC}\u{20AC}\u{20AC}ab"),
        ("\"a\u{20AC}\u{20AC}\u{20AC}\u{20AC}\"", "\"a\u{20AC}\u{20AC}\u{20AC}"),
    ] {
        let outcome = Trial::of(subject, Body::Echo)?.input(written).cap(12).run().await?;
        let what = format!("what is kept of {} bytes at a cap of 12", written.len());
        expect_text(&what, &outcome.stdout().text, kept)?;
        let (found, wanted) = (outcome.stdout().truncated, written.len() > 12);
        demand(found == wanted, &format!("truncated to be {wanted} for {} bytes", written.len()), || {
            found.to_string()
        })?;
    }
    Ok(())
}

/// Bytes that are no text become U+FFFD and cost the script nothing.
///
/// # Errors
/// Where the executor deviates.
pub async fn invalid_text_is_replaced(subject: &Subject) -> Checked {
    let output = Trial::of(subject, Body::InvalidText)?.output().await?;
    expect_text("standard output", &output, "a\u{FFFD}b")
}

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

fn unseen() -> Deviation {
    Deviation::skip("the processes of a run cannot be seen from here; see `Subject::sight`")
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

/// The temporary folder is empty at the start and gone afterwards.
///
/// # Errors
/// Where the executor deviates.
pub async fn temp_directory_is_gone_afterwards(subject: &Subject) -> Checked {
    let folder = Trial::of(subject, Body::LeaveTemp)?.output().await?;
    let output = Trial::of(subject, Body::LookTemp)?.input(&format!("\"{folder}\"")).output().await?;
    expect_text("what a second run finds of the first", &output, "end\n")
}

/// A script under a skill root runs, or is refused with the error for it.
///
/// # Errors
/// Where the executor deviates.
pub async fn file_origin_runs_or_is_refused(subject: &Subject) -> Checked {
    let file = HostFile::new(&subject.text_of(Body::Content)?)?;
    let name = format!("main.{}", subject.language);
    let mut trial = Trial::of(subject, Body::Content)?.named(Origin::File, &name)?;
    trial.parts.source_path = Some(file.path().to_owned());
    match trial.execute(Cancel::new()).await? {
        Ok(outcome) => {
            expect_ending(&outcome, EXITED_0)?;
            expect_text("standard output", &outcome.stdout().text, "approved\n")
        }
        Err(error) if error.kind() == ErrorKind::UNSUPPORTED_ORIGIN => Ok(()),
        Err(error) => Err(Deviation::fail("a result or the error UnsupportedOrigin", told(&error))),
    }
}

/// A script whose name is a path inside the skill runs like any other.
///
/// # Errors
/// Where the executor deviates.
pub async fn names_with_separators_run(subject: &Subject) -> Checked {
    let name = format!("scripts/deeply/nested/fetch it.{}", subject.language);
    let stored = Trial::of(subject, Body::Content)?.named(Origin::Stored, &name)?;
    expect_text("standard output", &stored.output().await?, "approved\n")?;
    let file = HostFile::new(&subject.text_of(Body::Content)?)?;
    let mut trial = Trial::of(subject, Body::Content)?.named(Origin::File, &name)?;
    trial.parts.source_path = Some(file.path().to_owned());
    match trial.execute(Cancel::new()).await? {
        Ok(outcome) => expect_text("standard output", &outcome.stdout().text, "approved\n"),
        // The matter of another clause.
        Err(error) if error.kind() == ErrorKind::UNSUPPORTED_ORIGIN => Ok(()),
        Err(error) => Err(Deviation::fail("a result", told(&error))),
    }
}

/// Two scripts of one skill at the same time do not meet.
///
/// # Errors
/// Where the executor deviates.
pub async fn one_skill_runs_concurrently(subject: &Subject) -> Checked {
    let named = |name: &str| {
        let path = format!("scripts/{name}.{}", subject.language);
        Ok::<_, Deviation>(Trial::of(subject, Body::Note)?.named(Origin::Stored, &path)?.input(&format!("\"{name}\"")))
    };
    let (one, other) = tokio::join!(named("one")?.output(), named("other")?.output());
    expect_text("the first run's folder", &one?, "\"one\"")?;
    expect_text("the second run's folder", &other?, "\"other\"")
}

/// An interpreter that the executor does not know is an error: never a result, never another one.
///
/// # Errors
/// Where the executor deviates.
pub async fn unknown_interpreter_is_an_error(subject: &Subject) -> Checked {
    let mut trial = Trial::of(subject, Body::Content)?;
    trial.parts.interpreter = Interpreter::parse("no-such-runtime-anywhere")
        .map_err(|error| Deviation::fail("a runtime name", error.to_string()))?;
    match trial.execute(Cancel::new()).await? {
        Ok(outcome) => Err(Deviation::fail("an error", format!("{:?}", outcome.ending()))),
        Err(error) if error.kind() == ErrorKind::CANCELLED => Err(Deviation::fail("a fault", told(&error))),
        Err(_) => Ok(()),
    }
}

/// The outcome says what the run used, and where the figures come from.
///
/// # Errors
/// Where the executor deviates.
pub async fn usage_is_told(subject: &Subject) -> Checked {
    let outcome = Trial::of(subject, Body::Content)?.run().await?;
    let good = outcome.usage().is_some_and(|usage| usage.memory_peak_bytes > 0 && !usage.source.is_empty());
    demand(good, "usage with a peak of memory and a source", || shown(&format!("{:?}", outcome.usage())).to_owned())
}

/// A script killed by a signal is told apart from one that exits with 128 and its number.
///
/// # Errors
/// Where the executor deviates.
pub async fn signal_is_told(subject: &Subject) -> Checked {
    let outcome = Trial::of(subject, Body::Signal)?.run().await?;
    expect_ending(&outcome, Ending::Exited { code: 137, signal: Some(9) })
}
