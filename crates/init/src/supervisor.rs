//! Pid 1: starts the job, reaps, watches the service, and ends everything when either is over.

use std::os::fd::{AsFd, OwnedFd};

use belljar_init::order::Job;
use belljar_init::status::{Ended, How, Stage};
use rustix::event::{PollFd, PollFlags, Timespec};

use crate::calls::{self, Reaped, Side};
use crate::channel::{At, Failure, Status, Streams, Word};
use crate::job::{self, Prepared};
use crate::memory::Watch;

/// How often the last children are looked for, a millisecond apart, before they are left to the kernel:
/// it kills what remains of the namespace when pid 1 ends, but then nobody counts what they used.
const REAP_ROUNDS: u32 = 50;

/// Runs the job to its end and tells of it.
pub(crate) fn supervise(job: &Job, status: &Status, streams: Streams, program: OwnedFd) -> Result<(), Failure> {
    let prepared = Prepared::new(job).at(Stage::Exec)?;
    let children = calls::child_signal().at(Stage::Signals)?;
    status.ready();
    let main = start(&prepared, status, streams, program)?;
    job::install_filters(job)?;

    let first = watch(main, status, &children, Some(Watch::new(job.memory_bytes, &job.watched)))?;
    if first == First::Gone {
        // Nobody is left to tell: the kernel kills the namespace with its pid 1.
        calls::end_now(0);
    }
    let disk_full = job.watched.iter().any(|path| is_full(path));
    let last = end_all(main, &children);
    let how = match first {
        First::Ended(how) => how,
        First::Asked => last.unwrap_or(How::Signalled(libc::SIGKILL)),
        First::Memory | First::Gone => How::Signalled(libc::SIGKILL),
    };
    let (peak_kib, cpu_micros) = calls::usage_of_children();
    let (memory_hit, by_itself) = (first == First::Memory, matches!(first, First::Ended(_)));
    status.ended(Ended { how, peak_kib, cpu_micros, disk_full, memory_hit, by_itself });
    Ok(())
}

/// Starts the job and keeps nothing of the script and nothing of the launcher.
pub(crate) fn start(
    prepared: &Prepared<'_>,
    status: &Status,
    streams: Streams,
    program: OwnedFd,
) -> Result<i32, Failure> {
    let main = match calls::fork().at(Stage::Fork)? {
        Side::Child => prepared.become_job(&streams, &program, status),
        Side::Parent(pid) => pid,
    };
    drop((streams, program));
    (0..3).for_each(calls::close_number);
    Ok(main)
}

/// Why the run is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum First {
    /// The main process ended.
    Ended(How),
    /// The service asked for it.
    Asked,
    /// The run used too much memory.
    Memory,
    /// The service is gone, or waits no more.
    Gone,
}

/// Waits for the first reason to end the run.
pub(crate) fn watch(
    main: i32,
    status: &Status,
    children: &OwnedFd,
    mut memory: Option<Watch<'_>>,
) -> Result<First, Failure> {
    loop {
        let mut ready = [PollFd::new(status, PollFlags::IN), PollFd::new(children, PollFlags::IN)];
        match rustix::event::poll(&mut ready, memory.as_ref().map(Watch::pause).as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error).at(Stage::Supervise),
        }
        let spoken = ready[0].revents().intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR);
        drain(children);
        if let Some(how) = reap_all(main).1 {
            return Ok(First::Ended(how));
        }
        match if spoken { status.received() } else { Word::Nothing } {
            Word::End => return Ok(First::Asked),
            Word::Gone => return Ok(First::Gone),
            Word::Nothing => {}
        }
        if let Some(memory) = &mut memory
            && memory.is_above().at(Stage::Supervise)?
        {
            return Ok(First::Memory);
        }
    }
}

/// Kills and reaps the rest, for a bounded time. Says how the main process ended, if it is seen here.
fn end_all(main: i32, children: &OwnedFd) -> Option<How> {
    let mut how = None;
    for _ in 0..REAP_ROUNDS {
        calls::kill_all_others();
        let (left, seen) = reap_all(main);
        how = how.or(seen);
        if !left {
            break;
        }
        pause(children);
    }
    how
}

/// Waits for the next child to end, a millisecond at most.
pub(crate) fn pause(children: &OwnedFd) {
    let longest = Timespec { tv_sec: 0, tv_nsec: 1_000_000 };
    let _ = rustix::event::poll(&mut [PollFd::new(children, PollFlags::IN)], Some(&longest));
    drain(children);
}

/// Reaps what has ended: whether children are left, and how the main process ended, if it did.
pub(crate) fn reap_all(main: i32) -> (bool, Option<How>) {
    let mut how = None;
    loop {
        match calls::reap() {
            Reaped::Child(pid, status) if pid == main => how = Some(how_of(status)),
            Reaped::Child(..) => {}
            Reaped::StillRunning => return (true, how),
            Reaped::NoneLeft => return (false, how),
        }
    }
}

fn how_of(status: i32) -> How {
    if libc::WIFSIGNALED(status) {
        How::Signalled(libc::WTERMSIG(status))
    } else {
        How::Exited(libc::WEXITSTATUS(status))
    }
}

fn drain(children: &OwnedFd) {
    let mut buffer = [0; 1024];
    // Once is enough: what is left makes the descriptor readable again, and the script can send without end.
    let _ = rustix::io::read(children.as_fd(), &mut buffer);
}

fn is_full(path: &[u8]) -> bool {
    rustix::fs::statvfs(path).is_ok_and(|space| space.f_bavail == 0 || space.f_favail == 0)
}
