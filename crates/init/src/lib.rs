//! What `init` and the service that starts it agree on: the framing of an order, and the records on the
//! status channel. Everything else of `init` is in its program.
//!
//! Both sides are built from these files, so a version difference between them cannot exist.

pub mod order;
pub mod status;

/// The word that makes `init` the first stage and then pid 1 of a sandbox.
pub const FIRST_STAGE: &str = "first-stage";

/// The word that makes `init` the job that checks its sandbox from inside.
pub const SELF_PROBE: &str = "self-probe";
