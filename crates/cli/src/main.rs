//! The `belljar` command: parses, dispatches, and turns what came of it into an exit code.

mod app;
mod arguments;
mod commands;
mod config;
#[cfg(feature = "crash-points")]
mod crash;
mod exit;
mod output;
mod signals;
mod state;
mod telemetry;

use std::process::ExitCode;

use clap::Parser;

use crate::arguments::{Arguments, Command};
use crate::exit::Failure;

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return exit::usage(&error),
    };
    telemetry::start(&arguments.global);
    // What speaks a protocol on standard output says nothing else there.
    let json = arguments.global.json && !matches!(arguments.command, Command::Mcp(_));
    match commands::dispatch(arguments) {
        Ok(code) => code,
        Err(failure) => Failure::from(failure).report(json),
    }
}
