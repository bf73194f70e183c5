//! Exit codes: the script's own; 124 time-out, 125 refused or failed by Belljar, 130 cancelled, 137 a
//! resource limit, 2 a wrong argument.

use std::process::ExitCode;

use belljar_core::code::Code;
use belljar_core::envelope;
use belljar_core::execution::{ExecutionRecord, Status};
use belljar_core::refusal::Refusal;

use crate::output;

/// Refused or failed by Belljar.
pub(crate) const REFUSED: u8 = 125;
const TIMED_OUT: u8 = 124;
/// Cancelled, or interrupted.
pub(crate) const CANCELLED: u8 = 130;
const EXHAUSTED: u8 = 137;
/// A wrong argument, as clap uses it.
const USAGE: u8 = 2;

/// The exit code of an execution.
pub(crate) fn of_execution(record: &ExecutionRecord) -> ExitCode {
    let code = match record.status {
        Status::Success => 0,
        Status::Failed => u8::try_from(record.exit_code.unwrap_or(1) & 0xFF).unwrap_or(1),
        Status::Timeout => TIMED_OUT,
        Status::ResourceExhausted => EXHAUSTED,
        Status::Cancelled => CANCELLED,
        _ => REFUSED,
    };
    ExitCode::from(code)
}

/// A command line that is not one, or one that only asks for help: what is said of it, and the exit code.
/// Whoever asked for JSON gets the envelope, though there is nothing that knows of `--json` yet.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    let wants_json = std::env::args_os().take_while(|argument| argument != "--").any(|argument| argument == "--json");
    if error.use_stderr() && wants_json {
        let message = error.render().to_string();
        let message = message.trim_start_matches("error: ").trim_end();
        output::json(&envelope::error(&Refusal::new(Code::InvalidArgument, message)));
    } else {
        drop(error.print());
    }
    ExitCode::from(if error.use_stderr() { USAGE } else { 0 })
}

/// A command that did not do what it was asked: a refusal of the service, or anything else.
#[derive(Debug)]
pub(crate) struct Failure {
    refusal: Refusal,
    /// Whether the code tells more than the sentence.
    has_code: bool,
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        match error.downcast::<Refusal>() {
            Ok(refusal) => Self { refusal, has_code: true },
            Err(error) => Self { refusal: Refusal::new(Code::Internal, format!("{error:#}")), has_code: false },
        }
    }
}

impl Failure {
    /// Says it, on standard error or as an envelope on standard output, and gives the exit code.
    pub(crate) fn report(self, json: bool) -> ExitCode {
        if json {
            output::json(&envelope::error(&self.refusal));
        } else if self.has_code {
            output::refusal(&self.refusal);
        } else {
            output::note(&format!("belljar: {}", output::safe_lines(self.refusal.message())));
        }
        ExitCode::from(match self.refusal.code() {
            Code::InvalidArgument => USAGE,
            Code::Cancelled => CANCELLED,
            _ => REFUSED,
        })
    }
}
