//! Ends a tree of processes of which none may be left, whatever they do.
//!
//! This process is the nearest subreaper: a process whose parent ends becomes a child of this one before
//! that parent can be reaped here. So "no child is left" is exact, and the only sign that is believed.
//!
//! It is a race with whatever starts processes, and is run so that it can be won on a small share of the
//! processor: a round asks for its own children alone, which costs a few microseconds, while a fork costs
//! hundreds. Their numbers cannot have been given to others, because nobody else reaps them. What has a
//! living parent elsewhere in the tree is looked for now and then, so that a deep tree does not have to be
//! taken level by level.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use belljar_init::clock::now;
use belljar_init::processes;
use belljar_init::status::{How, Stage};
use rustix::process::{Pid, Signal, getpid, kill_process};

use crate::channel::{At, Failure};
use crate::supervisor;

/// How long the hunt may take. What has not ended by then cannot be killed by this user.
const LONGEST_HUNT: Duration = Duration::from_secs(3);
/// How many rounds go to children alone before the whole tree is looked at.
const ROUNDS_OF_CHILDREN: u32 = 32;

/// Kills every descendant of this process. Says how the main process ended, if it is seen here.
pub(crate) fn end_tree(main: i32, children: &OwnedFd) -> Result<Option<How>, Failure> {
    // Most scripts leave nothing, and then no other process is looked at.
    let (mut left, mut how) = supervisor::reap_all(main);
    let (last, mut rounds) = (now() + LONGEST_HUNT, 0_u32);
    while left {
        if now() > last {
            return Err(Failure { stage: Stage::Survivors, errno: libc::ETIMEDOUT });
        }
        rounds += 1;
        kill_children().at(Stage::Supervise)?;
        if rounds.is_multiple_of(ROUNDS_OF_CHILDREN) {
            kill_descendants().at(Stage::Supervise)?;
        }
        supervisor::pause(children);
        let (more, seen) = supervisor::reap_all(main);
        (left, how) = (more, how.or(seen));
    }
    Ok(how)
}

fn kill_children() -> io::Result<()> {
    for pid in processes::own_children()?.into_iter().filter_map(Pid::from_raw) {
        let _ = kill_process(pid, Signal::KILL);
    }
    Ok(())
}

fn kill_descendants() -> io::Result<()> {
    let own = getpid().as_raw_nonzero().get();
    for process in processes::descendants(&processes::all()?, [own]) {
        process.signal(Signal::KILL);
    }
    Ok(())
}
