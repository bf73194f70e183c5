//! What `init` and the service that starts it agree on: the framing of an order, and the records on the
//! status channel; and what both must be able to do, because either may outlive the other: finding the
//! processes of a run, and removing its folder. Everything else of `init` is in its program.
//!
//! Both sides are built from these files, so a version difference between them cannot exist.

#[cfg(target_os = "linux")]
pub mod clock;
pub mod order;
#[cfg(target_os = "linux")]
pub mod processes;
#[cfg(target_os = "linux")]
pub mod removal;
pub mod status;

/// The word that makes `init` the first stage and then pid 1 of a sandbox.
pub const FIRST_STAGE: &str = "first-stage";

/// The word that makes `init` the shepherd of a script that nothing isolates.
pub const SHEPHERD: &str = "shepherd";

/// The word that makes `init` the job that checks its sandbox from inside.
pub const SELF_PROBE: &str = "self-probe";
