//! Ends a tree of processes of which none may be left, whatever they do.
//!
//! A process that has a living parent elsewhere in the tree cannot be reaped here; but every one whose
//! parent has ended becomes a child of this process, the nearest subreaper, before its parent can be
//! reaped. So "no child is left" is exact: it is the only sign that is believed.

use std::collections::BTreeSet;
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use belljar_init::processes::{self, Process};
use belljar_init::status::{How, Stage};
use rustix::process::{Signal, getpid};

use crate::channel::{At, Failure};
use crate::clock::now;
use crate::supervisor;

/// How long the hunt may take. What has not ended by then cannot be killed by this user.
const LONGEST_HUNT: Duration = Duration::from_secs(3);
/// How often processes are looked for that are not stopped yet. Each round stops all that stood at its
/// beginning, so what is left after these multiplies faster than it can be read.
const STOP_ROUNDS: u32 = 64;

/// Kills every descendant of this process. Says how the main process ended, if it is seen here.
pub(crate) fn end_tree(main: i32, children: &OwnedFd) -> Result<Option<How>, Failure> {
    // Most scripts leave nothing, and then no other process is looked at.
    let (mut left, mut how) = supervisor::reap_all(main);
    if left {
        stop_all().at(Stage::Supervise)?;
    }
    let last = now() + LONGEST_HUNT;
    while left {
        if now() > last {
            return Err(Failure { stage: Stage::Survivors, errno: libc::ETIMEDOUT });
        }
        descendants().at(Stage::Supervise)?.iter().for_each(|process| process.signal(Signal::KILL));
        supervisor::pause(children);
        let (more, seen) = supervisor::reap_all(main);
        (left, how) = (more, how.or(seen));
    }
    Ok(how)
}

/// Stops first: one that is killed makes room for another, one that is stopped does not.
fn stop_all() -> io::Result<()> {
    let mut stopped = BTreeSet::new();
    for _ in 0..STOP_ROUNDS {
        let before = stopped.len();
        for process in descendants()? {
            if stopped.insert((process.pid, process.start)) {
                process.signal(Signal::STOP);
            }
        }
        if stopped.len() == before {
            break;
        }
    }
    Ok(())
}

fn descendants() -> io::Result<Vec<Process>> {
    Ok(processes::descendants(&processes::all()?, [getpid().as_raw_nonzero().get()]))
}
