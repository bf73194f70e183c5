//! The shepherd: stands beside a script that nothing isolates, and sees to it that no process of it is left.
//!
//! It has the identity of the service and of the script, so it is no wall: a script that wants to can kill
//! it, and the service then has to do without. It ends the run when the main process has ended, when the
//! service asks, and when the service is gone.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use belljar_init::removal;
use belljar_init::status::{Ended, How, Stage};
use rustix::process::{Signal, getpid};

use crate::channel::{At, Failure, Status, Streams, Word};
use crate::job::Prepared;
use crate::supervisor::{self, First};
use crate::{calls, first_stage, hunt};

/// Places the files, runs the job to its end, and leaves neither a process nor the folder of the run.
pub(crate) fn tend(order: OwnedFd, status: &Status, streams: Streams, program: OwnedFd) -> Result<(), Failure> {
    stand_apart()?;
    let job = first_stage::place(order)?;
    let prepared = Prepared::new(&job).at(Stage::Exec)?.announced();
    let children = calls::child_signal().at(Stage::Signals)?;
    // Nobody may have waited so long: then nothing starts any more.
    if status.received() != Word::Nothing {
        remove_folder(&job.removed);
        return Ok(());
    }
    let main = supervisor::start(&prepared, status, streams, program)?;
    let first = supervisor::watch(main, status, &children, None);
    // Whatever was first, and even when the watch failed.
    let last = hunt::end_tree(main, &children)?;
    let first = first?;
    let by_itself = matches!(first, First::Ended(_));
    let how = match first {
        First::Ended(how) => Some(how),
        First::Asked | First::Memory => Some(last.unwrap_or(How::Signalled(libc::SIGKILL))),
        First::Gone => None,
    };
    if let Some(how) = how {
        let (peak_kib, cpu_micros) = calls::usage_of_children();
        status.ended(Ended { how, peak_kib, cpu_micros, disk_full: false, memory_hit: false, by_itself });
    }
    // After the word of the end: it may take long. The service looks whether the folder is gone.
    remove_folder(&job.removed);
    Ok(())
}

/// What is left of it the service sees, and says.
fn remove_folder(folder: &[u8]) {
    if !folder.is_empty() {
        let _ = removal::remove(Path::new(OsStr::from_bytes(folder)));
    }
}

/// Away from the service's terminal and process group, deaf to every signal that can be ignored, and the
/// parent of all that lose theirs.
fn stand_apart() -> Result<(), Failure> {
    rustix::process::setsid().at(Stage::Session)?;
    calls::block_signals().at(Stage::Signals)?;
    // A script may have stopped this process when the service dies. The other signals would end it, and
    // with it the only one who knows what is left.
    rustix::process::set_parent_process_death_signal(Some(Signal::CONT)).at(Stage::ParentDeath)?;
    rustix::process::set_child_subreaper(Some(getpid())).at(Stage::Subreaper)
}
