//! What a runner answers.

use std::fmt;

use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::fields;
use crate::{Captured, Ending, Outcome};

/// The bytes that a cut back to a character boundary may leave free below the cap.
const LONGEST_CHARACTER: usize = 4;

/// A runner's answer. There is none that is inconsistent.
#[derive(Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WireAnswer {
    exit_code: Option<i32>,
    standard_output: String,
    standard_error: String,
    truncated: bool,
    timed_out: bool,
    #[serde(flatten)]
    cut: Option<Cut>,
}

/// Which stream was cut. Optional: the published form has one flag for both.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Cut {
    stdout_truncated: bool,
    stderr_truncated: bool,
}

impl WireAnswer {
    /// The answer that tells this outcome. A signal is told as its exit code, 128 + n.
    #[must_use]
    pub fn of(outcome: &Outcome) -> Self {
        let (exit_code, timed_out) = match outcome.ending() {
            Ending::Exited { code, .. } => (Some(code), false),
            Ending::TimedOut => (None, true),
        };
        let (stdout, stderr) = (outcome.stdout(), outcome.stderr());
        Self {
            exit_code,
            standard_output: stdout.text.clone(),
            standard_error: stderr.text.clone(),
            truncated: stdout.truncated || stderr.truncated,
            timed_out,
            cut: Some(Cut { stdout_truncated: stdout.truncated, stderr_truncated: stderr.truncated }),
        }
    }

    /// The outcome, for a run with this cap of each stream.
    ///
    /// A runner that says only that something was cut does not say what: then the streams that reach the cap,
    /// less the rest of one character, are marked, and both where none does.
    #[must_use]
    pub fn into_outcome(self, cap: usize) -> Outcome {
        let Cut { stdout_truncated, stderr_truncated } = self.cut.unwrap_or_else(|| self.guessed(cap));
        let stdout = Captured { text: self.standard_output, truncated: stdout_truncated };
        let stderr = Captured { text: self.standard_error, truncated: stderr_truncated };
        match self.exit_code {
            Some(code) => Outcome::exited(code, stdout, stderr),
            None => Outcome::timed_out(stdout, stderr),
        }
    }

    fn guessed(&self, cap: usize) -> Cut {
        let reaches = |text: &str| text.len() + LONGEST_CHARACTER > cap;
        let (out, err) = (reaches(&self.standard_output), reaches(&self.standard_error));
        let neither = !out && !err;
        Cut {
            stdout_truncated: self.truncated && (out || neither),
            stderr_truncated: self.truncated && (err || neither),
        }
    }
}

impl fmt::Debug for WireAnswer {
    /// Leaves out what the script wrote.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { exit_code, truncated, timed_out, .. } = self;
        formatter
            .debug_struct("WireAnswer")
            .field("exit_code", exit_code)
            .field("truncated", truncated)
            .field("timed_out", timed_out)
            .finish_non_exhaustive()
    }
}

impl<'de> Deserialize<'de> for WireAnswer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Reading)
    }
}

struct Reading;

impl<'de> Visitor<'de> for Reading {
    type Value = WireAnswer;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the answer of a runner")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<WireAnswer, A::Error> {
        let mut exit_code: Option<Option<i32>> = None;
        let (mut stdout, mut stderr): (Option<String>, Option<String>) = (None, None);
        let (mut truncated, mut timed_out): (Option<bool>, Option<bool>) = (None, None);
        let (mut out_cut, mut err_cut): (Option<bool>, Option<bool>) = (None, None);
        fields!(map {
            "exitcode" => exit_code,
            "standardoutput" => stdout,
            "standarderror" => stderr,
            "truncated" => truncated,
            "timedout" => timed_out,
            "stdouttruncated" => out_cut,
            "stderrtruncated" => err_cut,
        });
        let missing = A::Error::missing_field;
        let answer = WireAnswer {
            exit_code: exit_code.flatten(),
            standard_output: stdout.ok_or_else(|| missing("standardOutput"))?,
            standard_error: stderr.ok_or_else(|| missing("standardError"))?,
            truncated: truncated.ok_or_else(|| missing("truncated"))?,
            timed_out: timed_out.ok_or_else(|| missing("timedOut"))?,
            cut: out_cut
                .zip(err_cut)
                .map(|(stdout_truncated, stderr_truncated)| Cut { stdout_truncated, stderr_truncated }),
        };
        if answer.cut.is_some_and(|cut| (cut.stdout_truncated || cut.stderr_truncated) != answer.truncated) {
            return Err(A::Error::custom("the flags of the two streams contradict the one for both"));
        }
        match (answer.exit_code, answer.timed_out) {
            (Some(_), true) => Err(A::Error::custom("both an exit code and a time-out")),
            (None, false) => Err(A::Error::custom("neither an exit code nor a time-out")),
            _ => Ok(answer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str =
        r#"{"exitCode":7,"standardOutput":"a\u00e9","standardError":"b","truncated":false,"timedOut":false}"#;

    fn read(text: &str) -> Result<WireAnswer, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_written_is_the_published_form_and_is_read_back() {
        let text = |text: &str| Captured { text: text.into(), truncated: false };
        let answer = WireAnswer::of(&Outcome::exited(7, text("a\u{e9}"), text("b")));
        let written = serde_json::to_string(&answer).unwrap();
        let whole = GOOD.replace('}', ",\"stdoutTruncated\":false,\"stderrTruncated\":false}");
        assert_eq!(written, whole.replace("\\u00e9", "\u{e9}"));
        assert_eq!(read(&written), Ok(answer));
        let timed_out = serde_json::to_string(&WireAnswer::of(&Outcome::timed_out(text("x"), text("")))).unwrap();
        assert_eq!(
            timed_out,
            r#"{"exitCode":null,"standardOutput":"x","standardError":"","truncated":false,"timedOut":true,"stdoutTruncated":false,"stderrTruncated":false}"#
        );
        assert!(matches!(read(&timed_out).unwrap().into_outcome(10).ending(), Ending::TimedOut));
        let signalled = WireAnswer::of(&Outcome::signalled(9, text(""), text(""))).into_outcome(10);
        assert_eq!(signalled.ending(), Ending::Exited { code: 137, signal: None });
    }

    #[test]
    fn names_come_in_any_case_and_unknown_ones_are_passed_over() {
        let other = r#"{"EXITCODE":7,"StandardOutput":"aé","standarderror":"b","Truncated":false,"timedOut":false,"region":{"x":[1]}}"#;
        assert_eq!(read(other), read(GOOD));
        let absent = GOOD.replace("\"exitCode\":7,", "").replace("\"timedOut\":false", "\"timedOut\":true");
        assert!(matches!(read(&absent).unwrap().into_outcome(10).ending(), Ending::TimedOut));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (from, to, told) in [
            ("\"timedOut\":false", "\"timedOut\":true", "both an exit code and a time-out"),
            ("\"exitCode\":7", "\"exitCode\":null", "neither an exit code nor a time-out"),
            ("\"exitCode\":7,", "", "neither an exit code nor a time-out"),
            ("\"exitCode\":7", "\"exitCode\":7,\"ExitCode\":0", "duplicate field"),
            ("\"exitCode\":7", "\"exitCode\":\"7\"", "invalid type"),
            ("\"exitCode\":7", "\"exitCode\":7.5", "invalid type"),
            ("\"exitCode\":7", "\"exitCode\":4294967296", "invalid value"),
            ("\"standardError\":\"b\",", "", "missing field `standardError`"),
            ("\"standardOutput\":\"a\\u00e9\"", "\"standardOutput\":null", "invalid type"),
            ("\"truncated\":false,", "", "missing field `truncated`"),
            (",\"timedOut\":false", "", "missing field `timedOut`"),
            ("\"timedOut\":false}", "\"timedOut\":false", "EOF"),
            ("}", ",\"stdoutTruncated\":true,\"stderrTruncated\":false}", "contradict"),
        ] {
            let changed = GOOD.replace(from, to);
            assert_ne!(changed, GOOD, "{from}");
            let error = read(&changed).unwrap_err();
            assert!(error.contains(told), "{changed}: {error}");
        }
        for text in ["", "null", "[]", "\"ok\"", "{}", "<html>"] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_one_flag_marks_the_stream_that_may_have_been_cut() {
        let marks = |stdout: &str, stderr: &str, truncated| {
            let answer = WireAnswer {
                exit_code: Some(0),
                standard_output: stdout.into(),
                standard_error: stderr.into(),
                truncated,
                timed_out: false,
                cut: None,
            };
            let outcome = answer.into_outcome(10);
            (outcome.stdout().truncated, outcome.stderr().truncated)
        };
        assert_eq!(marks("0123456789", "short", true), (true, false));
        assert_eq!(marks("short", "0123456", true), (false, true));
        assert_eq!(marks("0123456789", "0123456789", true), (true, true));
        assert_eq!(marks("short", "", true), (true, true));
        assert_eq!(marks("0123456789", "0123456789", false), (false, false));
        let told = GOOD.replace("\"truncated\":false", "\"truncated\":true");
        let told = told.replace('}', ",\"stdoutTruncated\":false,\"stderrTruncated\":true}");
        let outcome = read(&told).unwrap().into_outcome(3);
        assert_eq!((outcome.stdout().truncated, outcome.stderr().truncated), (false, true));
    }

    #[test]
    fn what_a_script_wrote_is_in_no_log() {
        assert!(!format!("{:?}", read(GOOD).unwrap()).contains('\u{e9}'));
    }
}
