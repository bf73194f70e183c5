//! What stands between a run and the host, as far as it decides what a failure says and how long an end
//! may take.

use std::io;
use std::time::Duration;

use belljar_executor::{Cause, Control};
use belljar_init::status::Stage;

use crate::failure::{self, RunError};

/// The walls of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Walls {
    /// A sandbox: one that cannot be made says something about the host.
    Sandbox,
    /// None: what fails is a fault of this one run.
    None,
}

impl Walls {
    /// A step of `init` that failed.
    pub(crate) fn stage(self, stage: Stage, errno: i32) -> RunError {
        match self {
            Self::Sandbox => RunError::stage(stage, errno),
            Self::None => RunError::fault_of_stage(stage, errno),
        }
    }

    /// Nothing could be started.
    pub(crate) fn not_started(self, error: &io::Error) -> RunError {
        // Setting the uid is what is refused: it has no meaning in the user namespace this service is in.
        let uid_refused = matches!(error.raw_os_error(), Some(libc::EINVAL | libc::EPERM));
        if self == Self::Sandbox && uid_refused {
            let message = format!("the uid of a run cannot be taken on: {error}");
            let remedy = "map the uids from 1879048192 to 1879052287 into this container, or start the service as an ordinary user";
            return failure::unavailable(Cause::Other, Some(Control::Identity), message, remedy).into();
        }
        RunError::Fault(format!("starting {}: {error}", self.what()))
    }

    /// The set-up took too long.
    pub(crate) fn late(self) -> RunError {
        let message = format!("{} was not ready in time", self.what());
        match self {
            Self::Sandbox => failure::unavailable(Cause::Other, None, message, "lower the load of this machine").into(),
            Self::None => RunError::Fault(message),
        }
    }

    /// What was started ended before it could say anything; these are its own words.
    pub(crate) fn refused(self, words: &str) -> RunError {
        match (self, words) {
            (Self::Sandbox, "") => failure::host_refuses("bwrap ended without a word", None).into(),
            (Self::Sandbox, words) => failure::host_refuses(words, None).into(),
            (Self::None, _) => RunError::Fault("the shepherd ended before the script began".to_owned()),
        }
    }

    /// What was started ended without telling the end of the script.
    pub(crate) fn silent(self) -> RunError {
        RunError::Fault(format!("{} ended without a word", self.what()))
    }

    /// How long it may take until the end is told, after it was asked for. Pid 1 of a sandbox kills all
    /// others in one call; a shepherd has to find them.
    pub(crate) const fn longest_farewell(self) -> Duration {
        match self {
            Self::Sandbox => Duration::from_millis(250),
            Self::None => Duration::from_secs(2),
        }
    }

    const fn what(self) -> &'static str {
        match self {
            Self::Sandbox => "a sandbox",
            Self::None => "the shepherd of a run",
        }
    }
}
