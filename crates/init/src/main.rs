//! The small static program that stands next to hostile code.
//!
//! One file, three roles. *First stage*, then *sandbox init*: started by the launcher inside new
//! namespaces, it places files, gives up every right, starts the job and watches it as pid 1. *Self-probe*:
//! started as the job of such a sandbox, it checks the walls from inside with real system calls. *Shepherd*:
//! started beside a script that nothing isolates, it leaves no process of it.

#[cfg(target_os = "linux")]
mod calls;
#[cfg(target_os = "linux")]
mod channel;
#[cfg(target_os = "linux")]
#[cfg(target_os = "linux")]
mod facts;
#[cfg(target_os = "linux")]
mod first_stage;
#[cfg(target_os = "linux")]
mod hunt;
#[cfg(target_os = "linux")]
mod job;
#[cfg(target_os = "linux")]
mod memory;
#[cfg(target_os = "linux")]
mod refused;
#[cfg(target_os = "linux")]
mod rights;
#[cfg(target_os = "linux")]
mod shepherd;
#[cfg(target_os = "linux")]
mod supervisor;

#[cfg(target_os = "linux")]
use std::os::fd::OwnedFd;
use std::process::ExitCode;

#[cfg(target_os = "linux")]
use channel::{Failure, Status, Streams};

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    match words.next().as_deref() {
        #[cfg(target_os = "linux")]
        Some(belljar_init::FIRST_STAGE) => serve(words, sandbox),
        #[cfg(target_os = "linux")]
        Some(belljar_init::SHEPHERD) => serve(words, shepherd::tend),
        #[cfg(target_os = "linux")]
        Some(belljar_init::SELF_PROBE) => facts::print(),
        _ => ExitCode::from(2),
    }
}

/// What a role does with everything that was passed.
#[cfg(target_os = "linux")]
type Role = fn(OwnedFd, &Status, Streams, OwnedFd) -> Result<(), Failure>;

/// Takes what was passed, plays the role and tells of its failure.
#[cfg(target_os = "linux")]
fn serve(words: impl Iterator<Item = String>, role: Role) -> ExitCode {
    let Some(inherited) = channel::Inherited::from_words(words) else {
        return ExitCode::from(2);
    };
    let channel::Inherited { order, status, streams, program } = inherited;
    match role(order, &status, streams, program) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            status.failed(failure);
            ExitCode::FAILURE
        }
    }
}

#[cfg(target_os = "linux")]
fn sandbox(order: OwnedFd, status: &Status, streams: Streams, program: OwnedFd) -> Result<(), Failure> {
    status.started()?;
    let job = first_stage::place(order)?;
    first_stage::close_nested_namespaces()?;
    rights::give_up()?;
    supervisor::supervise(&job, status, streams, program)
}
