//! How much memory a run uses, looked at from its pid 1: where no control group counts, somebody must.

use belljar_init::clock::now;
use std::fs;
use std::io;
use std::time::Duration;

use belljar_init::processes;
use rustix::event::Timespec;

const BETWEEN_LOOKS: Duration = Duration::from_millis(20);
/// After a look at every mapping, which costs far more.
const AFTER_A_LONG_LOOK: Duration = Duration::from_millis(200);

/// Looks from time to time.
#[derive(Debug)]
pub(crate) struct Watch<'a> {
    limit: u64,
    folders: &'a [Vec<u8>],
    next: Duration,
}

impl<'a> Watch<'a> {
    pub(crate) fn new(limit: u64, folders: &'a [Vec<u8>]) -> Self {
        Self { limit, folders, next: now() + BETWEEN_LOOKS }
    }

    /// How long until the next look.
    pub(crate) fn pause(&self) -> Timespec {
        let pause = self.next.saturating_sub(now());
        Timespec { tv_sec: 0, tv_nsec: pause.subsec_nanos().into() }
    }

    /// Looks, if it is time to: whether the run uses more than it may.
    ///
    /// The sum of resident pages comes first, because it is cheap and never too low. It counts shared pages
    /// for each process, so a run that is above by it is counted again, by each one's proportional share.
    ///
    /// Pages of files in the writable folders stand in the folders' own count and, while they are mapped, in
    /// that of the processes; the exact count takes the larger of the two.
    ///
    /// # Errors
    /// When the processes cannot be listed: a run that nobody can watch must not go on.
    pub(crate) fn is_above(&mut self) -> io::Result<bool> {
        if now() < self.next {
            return Ok(false);
        }
        let files: u64 = self.folders.iter().map(|folder| used(folder)).sum();
        let processes = others()?;
        let quick: u64 = processes.iter().map(|pid| resident(*pid)).sum();
        if files + quick <= self.limit {
            self.next = now() + BETWEEN_LOOKS;
            return Ok(false);
        }
        let (mut own, mut shared) = (0, 0);
        for pid in processes {
            let share = share(pid).unwrap_or_else(|| Share { own: resident(pid), shared: 0 });
            own += share.own;
            shared += share.shared;
        }
        self.next = now() + AFTER_A_LONG_LOOK;
        Ok(own + files.max(shared) > self.limit)
    }
}

/// Every process but this one.
fn others() -> io::Result<Vec<i32>> {
    Ok(processes::numbers()?.into_iter().filter(|pid| *pid != 1).collect())
}

/// The resident memory of a process. One whose first thread has ended shows none there, and all of it at
/// each of its other threads.
fn resident(pid: i32) -> u64 {
    at_process_or_thread(pid, |folder| Some(resident_at(folder)).filter(|bytes| *bytes > 0)).unwrap_or(0)
}

fn resident_at(folder: &str) -> u64 {
    let counts = fs::read_to_string(format!("{folder}/statm")).unwrap_or_default();
    let pages: u64 = counts.split(' ').nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0);
    pages * rustix::param::page_size() as u64
}

/// What a process adds to the run: memory of its own, and its share of files in memory.
struct Share {
    own: u64,
    shared: u64,
}

/// `None` for one that has closed itself to others, or is gone: it is then counted in full.
fn share(pid: i32) -> Option<Share> {
    at_process_or_thread(pid, |folder| share_at(folder).filter(|share| share.own + share.shared > 0))
}

fn share_at(folder: &str) -> Option<Share> {
    let counts = fs::read_to_string(format!("{folder}/smaps_rollup")).ok()?;
    let bytes = |name: &str| {
        let line = counts.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kib| kib * 1024)
    };
    let shared = bytes("Pss_Shmem:").unwrap_or(0);
    Some(Share { own: bytes("Pss:")?.saturating_sub(shared), shared })
}

/// What is found at the process itself, else at the first of its threads that has it.
fn at_process_or_thread<T>(pid: i32, look: impl Fn(&str) -> Option<T>) -> Option<T> {
    if let Some(found) = look(&format!("/proc/{pid}")) {
        return Some(found);
    }
    let threads = fs::read_dir(format!("/proc/{pid}/task")).ok()?;
    threads.flatten().find_map(|thread| look(thread.path().to_str()?))
}

fn used(folder: &[u8]) -> u64 {
    rustix::fs::statvfs(folder).map_or(0, |space| (space.f_blocks - space.f_bfree) * space.f_frsize)
}
