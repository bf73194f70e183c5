//! What is particular to the local executor, through its front door.
//!
//! Runs as root and as an ordinary user, as the tests of bubblewrap do.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail as tests do")]

use std::io::Write as _;
use std::sync::OnceLock;

use belljar_executors::{Local, LocalOptions};

#[path = "../support/mod.rs"]
mod support;

mod endings;
mod folders;
mod report;
mod shepherd;
mod surroundings;

/// The executor that serves every test at once, but for those that look into its folder.
pub(crate) fn executor() -> &'static Local {
    static EXECUTOR: OnceLock<Local> = OnceLock::new();
    EXECUTOR.get_or_init(|| Local::new(LocalOptions::default()))
}

/// An executor with a folder of its own.
pub(crate) fn executor_in(folder: &std::path::Path) -> Local {
    let mut options = LocalOptions::default();
    options.folder = Some(folder.to_owned());
    Local::new(options)
}

/// One test of this binary, to be run in a process of its own that these words start.
#[expect(clippy::disallowed_methods, reason = "a test starts itself again")]
pub(crate) fn itself_under(words: &[&str], test: &str) -> std::process::Command {
    let itself = support::itself(test);
    let mut command = std::process::Command::new(words[0]);
    command.args(&words[1..]).arg(itself.get_program()).args(itself.get_args());
    command
}

/// Says why a test looks at nothing here, past the capture of the test harness.
pub(crate) fn skip(reason: &str) {
    drop(writeln!(std::io::stderr(), "skipped: {reason}"));
}

/// How many runs have a folder there.
pub(crate) fn runs_in(folder: &std::path::Path) -> usize {
    std::fs::read_dir(folder).unwrap().count()
}
