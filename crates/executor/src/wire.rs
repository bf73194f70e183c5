//! A run over a wire: what a runner service gets in `POST /runs`, and what it answers.
//!
//! ```json
//! {"tenant":"acme","runtime":"python-3.12","source":"print(1)","sourceSha256":"7A…","standardInput":null,
//!  "timeoutSeconds":30,"maxOutputBytes":262144}
//! ```
//! ```json
//! {"exitCode":0,"standardOutput":"1\n","standardError":"","truncated":false,"timedOut":false}
//! ```
//!
//! Names are read in any case, and what is not known is passed over, so that either side can grow. What is
//! known must make sense: a source that is not the one of its digest, or an answer with both an exit code and
//! a time-out, or with neither, cannot be read.
//!
//! Optional fields of ours, never required and ignored by others: `skillName` of a request; `stdoutTruncated` and
//! `stderrTruncated` of an answer, where `truncated` alone does not say which stream was cut.
//!
//! The form carries a script alone: neither arguments of a command line nor further files of the skill. A request
//! that has them is refused, unless the script is declared `standalone`. The limits of its class do not travel
//! either: a runner has its own.

mod answer;
mod request;

pub use answer::WireAnswer;
pub use request::WireRequest;

/// A request that this form cannot carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// It has arguments for a command line.
    #[error("the runner's form carries no command-line arguments")]
    CommandLine,
    /// It starts in a folder of the skill.
    #[error("the runner's form carries no folder to start in but the run's own")]
    WorkingDirectory,
    /// The script can see further files of its skill, and does not say that it needs none of them.
    #[error("the runner's form carries the script alone: declare it `standalone` if it needs no other file")]
    Files,
}

/// Reads an object whose names may come in any case: each known name once, whatever is unknown passed over.
macro_rules! fields {
    ($map:ident { $($name:literal => $slot:ident),* $(,)? }) => {
        while let Some(name) = $map.next_key::<String>()? {
            match name.to_ascii_lowercase().as_str() {
                $($name => {
                    if $slot.replace($map.next_value()?).is_some() {
                        return Err(serde::de::Error::duplicate_field($name));
                    }
                })*
                _ => drop($map.next_value::<serde::de::IgnoredAny>()?),
            }
        }
    };
}

pub(crate) use fields;
