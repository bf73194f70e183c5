//! One file a command.

mod audit;
mod config;
mod differences;
mod doctor;
mod exec;
mod grant;
mod manual;
mod mcp;
mod pause;
mod run;
mod skill;

use std::future::Future;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::arguments::{Arguments, Command};

/// Runs the command.
pub(crate) fn dispatch(arguments: Arguments) -> Result<ExitCode> {
    let Arguments { global, command } = arguments;
    match command {
        Command::Run(arguments) => wait(run::run(&global, arguments)),
        Command::Skill(command) => wait(skill::run(&global, command)),
        Command::Grant(command) => wait(grant::run(&global, command)),
        Command::Exec(command) => wait(exec::run(&global, command)),
        Command::Audit(command) => wait(audit::run(&global, command)),
        Command::Pause(arguments) => wait(pause::run(&global, arguments.all, true)),
        Command::Resume(arguments) => wait(pause::run(&global, arguments.all, false)),
        Command::Mcp(arguments) => wait(mcp::run(&global, arguments)),
        Command::Doctor(arguments) => wait(doctor::run(&global, arguments)),
        Command::Config(command) => wait(config::run(&global, command)),
        Command::Completions { shell } => Ok(manual::completions(shell)),
        Command::Man { folder } => manual::pages(&folder),
    }
}

fn wait(command: impl Future<Output = Result<ExitCode>>) -> Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .context("the runtime cannot start")?;
    let done = runtime.block_on(command);
    // A computation that nobody waits for any more must not keep the command from ending.
    runtime.shutdown_timeout(Duration::from_millis(200));
    done
}
