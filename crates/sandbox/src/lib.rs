//! The host side of isolation.
//!
//! A [`Driver`] makes single-use sandboxes: it writes down what a run may see and use (`policy` and
//! order), has them made by a launcher, moves the script's bytes, ends everything and reads the counters.
//! What stands inside is `init`, which is embedded here. A [`LocalDriver`] runs scripts without any of the
//! walls, on the same channels, with `init` as their shepherd.

#![cfg(target_os = "linux")]

mod arguments;
mod driver;
mod ending;
mod failure;
mod findings;
mod host;
mod job;
mod keep;
mod launcher;
mod local;
mod memory_file;
mod order;
mod places;
mod plan;
mod policy;
mod probe;
mod pump;
mod run;
mod runtimes;
mod sandboxed;
mod seccomp;
mod status;
mod sys;
mod uids;
mod walls;

pub use driver::{Driver, DriverOptions, Finished, RunEnding};
pub use failure::RunError;
pub use job::Job;
pub use local::LocalDriver;
pub use plan::{Plan, PlannedMount};
