//! What tells a careful executor from a working one.

use belljar_executor::{Cancel, Ending, ErrorKind, Interpreter, Origin};

use crate::trial::{HostFile, Trial, expect_ending, expect_text, shown, told};
use crate::verdict::demand;
use crate::{Body, Checked, Deviation, Subject};

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
