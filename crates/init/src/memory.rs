//! How much memory a run uses, looked at from its pid 1: where no control group counts, somebody must.

use std::fs;
use std::time::Duration;

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
    pub(crate) fn is_above(&mut self) -> bool {
        if now() < self.next {
            return false;
        }
        let files: u64 = self.folders.iter().map(|folder| used(folder)).sum();
        let quick: u64 = processes().map(|pid| resident(&pid)).sum();
        if files + quick <= self.limit {
            self.next = now() + BETWEEN_LOOKS;
            return false;
        }
        let exact: u64 = processes().map(|pid| share(&pid).unwrap_or_else(|| resident(&pid))).sum();
        self.next = now() + AFTER_A_LONG_LOOK;
        files + exact > self.limit
    }
}

fn now() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// Every process but this one.
fn processes() -> impl Iterator<Item = String> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| name != "1" && name.bytes().all(|byte| byte.is_ascii_digit()))
}

fn resident(pid: &str) -> u64 {
    let counts = fs::read_to_string(format!("/proc/{pid}/statm")).unwrap_or_default();
    let pages: u64 = counts.split(' ').nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0);
    pages * rustix::param::page_size() as u64
}

/// `None` for one that has closed itself to others, or is gone: it is then counted in full.
fn share(pid: &str) -> Option<u64> {
    let counts = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let line = counts.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kib| kib * 1024)
}

fn used(folder: &[u8]) -> u64 {
    rustix::fs::statvfs(folder).map_or(0, |space| (space.f_blocks - space.f_bfree) * space.f_frsize)
}
