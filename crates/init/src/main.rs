//! The small static program that stands next to hostile code.
//!
//! One file, two roles. *First stage*, then *sandbox init*: started by the launcher inside new
//! namespaces, it places files, gives up every right, starts the job and watches it as pid 1. *Self-probe*:
//! started as the job of such a sandbox, it checks the walls from inside with real system calls.

#[cfg(target_os = "linux")]
mod calls;
#[cfg(target_os = "linux")]
mod channel;
#[cfg(target_os = "linux")]
mod facts;
#[cfg(target_os = "linux")]
mod first_stage;
#[cfg(target_os = "linux")]
mod job;
#[cfg(target_os = "linux")]
mod memory;
#[cfg(target_os = "linux")]
mod refused;
#[cfg(target_os = "linux")]
mod rights;
#[cfg(target_os = "linux")]
mod supervisor;

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    match words.next().as_deref() {
        #[cfg(target_os = "linux")]
        Some(belljar_init::FIRST_STAGE) => sandbox(words),
        #[cfg(target_os = "linux")]
        Some(belljar_init::SELF_PROBE) => facts::print(),
        _ => ExitCode::from(2),
    }
}

#[cfg(target_os = "linux")]
fn sandbox(words: impl Iterator<Item = String>) -> ExitCode {
    let Some(inherited) = channel::Inherited::from_words(words) else {
        return ExitCode::from(2);
    };
    let channel::Inherited { order, status, streams, program } = inherited;
    let run = || {
        status.started()?;
        let job = first_stage::place(order)?;
        first_stage::close_nested_namespaces()?;
        rights::give_up()?;
        supervisor::supervise(&job, &status, streams, program)
    };
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            status.failed(failure);
            ExitCode::FAILURE
        }
    }
}
