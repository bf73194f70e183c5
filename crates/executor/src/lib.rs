//! The seam between *whether* a skill script runs and *where* it runs.
//!
//! A host that has approved a script hands an [`ExecutionRequest`] to an [`Executor`] and gets an
//! [`Outcome`] or an [`ExecutorError`] back. The host decides, records, bounds and caps; the executor
//! only runs. Anyone can implement the trait: it asks for nothing but this crate.
//!
//! What every executor promises:
//!
//! 1. One instance serves every run at once.
//! 2. A time-out is a result ([`Outcome::timed_out`]); a cancellation ends in
//!    [`ExecutorError::cancelled`] after the script and its whole process tree are gone. Being dropped
//!    is safe: everything is killed at once.
//! 3. The arguments go to standard input byte for byte, then it is closed. A script that never reads
//!    it is normal.
//! 4. The script sees `TRACON_SKILL_NAME`, `TRACON_SKILL_TEMP` (a directory of its own, empty at the
//!    start, gone afterwards) and nothing from the host.
//! 5. Output is capped, drained past the cap and never annotated. Output before a time-out is kept.
//! 6. Children left behind die with the run, also after a normal exit.
//! 7. A stored request runs its content, never a path.
//! 8. A fault is an error whose kind alone reaches the caller; its message goes to the server log.
//! 9. An unsupported origin is refused.
//! 10. An empty script exits 0 with empty output.

/// The attribute that an implementation of [`Executor`] carries.
pub use async_trait::async_trait;

mod cancel;
mod cap;
mod digest;
mod error;
mod executor;
mod limits;
mod names;
mod outcome;
mod report;
mod request;
mod requirement;
mod tree;
pub mod wire;

pub use cancel::Cancel;
pub use cap::{Captured, cap_bytes, cap_text};
pub use digest::{Digest, FieldHasher};
pub use error::{ErrorKind, ExecutorError};
pub use executor::Executor;
pub use limits::Limits;
pub use names::{
    ExecutionId, Interpreter, InvalidName, LanguageKey, LimitsClass, LogicalPath, RunId, RuntimeName, ScriptName,
    SkillName, TenantId,
};
pub use outcome::{Ending, LimitHit, Outcome, Usage};
pub use report::{Cause, Control, Finding, Report, State, Unavailable};
pub use request::{ExecutionRequest, Origin, RequestParts, WorkingDirectory};
pub use requirement::{Minimum, Requirement, Shortfall};
pub use tree::FileTree;
