//! The bubblewrap executor through its front door.
//!
//! Runs as root and as an ordinary user. For the second as root: copy this test's binary into a
//! world-readable folder and start it with `setpriv --reuid 4242 --regid 4242 --clear-groups`.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail as tests do")]

use std::sync::OnceLock;

use belljar_executors::{Bubblewrap, BubblewrapOptions};

#[path = "../support/mod.rs"]
mod support;

mod contract;
mod endings;
mod isolation;
mod programs;
mod report;

/// The executor that serves every test at once.
pub(crate) fn executor() -> &'static Bubblewrap {
    static EXECUTOR: OnceLock<Bubblewrap> = OnceLock::new();
    EXECUTOR.get_or_init(|| Bubblewrap::new(BubblewrapOptions::default()))
}
