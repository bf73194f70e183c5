//! Completions and manual pages, made from the same description as the command line itself.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::CommandFactory;

use crate::arguments::Arguments;
use crate::output;

/// Prints the completions for a shell.
pub(super) fn completions(shell: clap_complete::Shell) -> ExitCode {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "belljar", &mut script);
    output::text(&String::from_utf8_lossy(&script));
    ExitCode::SUCCESS
}

/// Writes `belljar.1` and a page for every sub-command.
pub(super) fn pages(folder: &Path) -> Result<ExitCode> {
    clap_mangen::generate_to(Arguments::command(), folder)
        .with_context(|| format!("the manual pages cannot be written to {}", folder.display()))?;
    Ok(ExitCode::SUCCESS)
}
