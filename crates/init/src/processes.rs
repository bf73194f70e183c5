//! The processes of this host as its process file system shows them, and signals that reach only the one
//! that was meant.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// Where the number of threads and the start time stand behind the name, counted from zero.
const THREADS_FIELD: usize = 17;
const START_FIELD: usize = 19;

/// One process, as it was when it was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Process {
    /// Its number.
    pub pid: i32,
    /// The number of its parent.
    pub parent: i32,
    /// The number of its session.
    pub session: i32,
    /// When it was started, in ticks since the machine was. No two processes share number and start.
    pub start: u64,
    /// Whether all of it has ended and only its parent has not been told yet. A process whose first thread
    /// alone has ended goes on.
    pub has_ended: bool,
}

impl Process {
    /// The process with this number; `None` when there is none.
    #[must_use]
    pub fn find(pid: i32) -> Option<Self> {
        let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
        Self::parse(pid, &String::from_utf8_lossy(&stat))
    }

    fn parse(pid: i32, stat: &str) -> Option<Self> {
        // A process may put anything into its name, brackets too.
        let (_, behind_name) = stat.rsplit_once(')')?;
        let fields: Vec<&str> = behind_name.split_whitespace().collect();
        Some(Self {
            pid,
            parent: fields.get(1)?.parse().ok()?,
            session: fields.get(3)?.parse().ok()?,
            start: fields.get(START_FIELD)?.parse().ok()?,
            has_ended: matches!(fields[0], "Z" | "X") && matches!(*fields.get(THREADS_FIELD)?, "0" | "1"),
        })
    }

    /// Sends a signal to this very process, and to none that has its number by now: the descriptor is
    /// opened first, and what is behind it looked at again. That it is gone, or not ours, is no failure.
    pub fn signal(&self, signal: Signal) {
        let Some(process) = Pid::from_raw(self.pid).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()) else {
            return;
        };
        if Self::find(self.pid).is_some_and(|found| found.start == self.start) {
            let _ = pidfd_send_signal(&process, signal);
        }
    }
}

/// Whether the numbers in the process file system are those that signals are sent to. In a process namespace
/// without a process file system of its own they are other processes'.
///
/// # Errors
/// When they are not, or it cannot be told.
pub fn are_ours() -> io::Result<()> {
    let shown = fs::read_link("/proc/self")?;
    if shown.to_str().and_then(|number| number.parse().ok()) == Some(std::process::id()) {
        return Ok(());
    }
    Err(io::Error::other("/proc shows the processes of another namespace; mount one of this namespace there"))
}

/// The numbers of all processes.
///
/// # Errors
/// When the process file system cannot be read.
pub fn numbers() -> io::Result<Vec<i32>> {
    are_ours()?;
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc")? {
        found.extend(entry?.file_name().to_str().and_then(|name| name.parse::<i32>().ok()));
    }
    Ok(found)
}

/// All processes.
///
/// # Errors
/// When the process file system cannot be read.
pub fn all() -> io::Result<Vec<Process>> {
    Ok(numbers()?.into_iter().filter_map(Process::find).collect())
}

/// The children of this process, which must have one thread only.
///
/// # Errors
/// When the process file system cannot be read.
pub fn own_children() -> io::Result<Vec<i32>> {
    are_ours()?;
    match fs::read_to_string("/proc/thread-self/children") {
        Ok(numbers) => Ok(numbers.split_whitespace().filter_map(|number| number.parse().ok()).collect()),
        // Not every kernel is built with it.
        Err(error) if error.kind() == io::ErrorKind::NotFound => children_of_all(std::process::id()),
        Err(error) => Err(error),
    }
}

fn children_of_all(own: u32) -> io::Result<Vec<i32>> {
    let own = i32::try_from(own).map_err(io::Error::other)?;
    Ok(all()?.into_iter().filter(|process| process.parent == own).map(|process| process.pid).collect())
}

/// Those of `all` that descend from one of `roots`, without the roots themselves.
#[must_use]
pub fn descendants(all: &[Process], roots: impl IntoIterator<Item = i32>) -> Vec<Process> {
    let mut children: BTreeMap<i32, Vec<Process>> = BTreeMap::new();
    for process in all {
        children.entry(process.parent).or_default().push(*process);
    }
    let mut above: Vec<i32> = roots.into_iter().collect();
    let mut seen: BTreeSet<i32> = above.iter().copied().collect();
    let mut found = Vec::new();
    while let Some(parent) = above.pop() {
        for child in children.remove(&parent).unwrap_or_default() {
            if seen.insert(child.pid) {
                above.push(child.pid);
                found.push(child);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: i32, parent: i32) -> Process {
        Process { pid, parent, session: 1, start: 0, has_ended: false }
    }

    #[test]
    fn a_name_full_of_brackets_hides_nothing() {
        let fields = "S 7 8 9 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4711 0";
        let found = Process::parse(5, &format!("5 (a) R 1 1) b\n) {fields}"));
        assert_eq!(found, Some(Process { pid: 5, parent: 7, session: 9, start: 4711, has_ended: false }));
        assert_eq!(Process::parse(5, "5 (cut) S 7"), None);
    }

    #[test]
    fn a_process_goes_on_without_its_first_thread() {
        for (state, threads, ended) in [("Z", 1, true), ("Z", 2, false), ("S", 1, false)] {
            let stat = format!("5 (a) {state} 7 8 9 0 -1 0 0 0 0 0 0 0 0 0 20 0 {threads} 0 4711 0");
            assert_eq!(Process::parse(5, &stat).map(|found| found.has_ended), Some(ended), "{stat}");
        }
    }

    #[test]
    fn descendants_are_found_whatever_their_numbers_and_nobody_else_is() {
        let all = [process(3, 9), process(9, 2), process(2, 1), process(4, 1), process(5, 3), process(6, 4)];
        let mut found: Vec<i32> = descendants(&all, [2]).iter().map(|process| process.pid).collect();
        found.sort_unstable();
        assert_eq!(found, [3, 5, 9]);
        // A snapshot taken while processes come and go may hold a ring.
        assert_eq!(descendants(&[process(8, 7), process(7, 8)], [7]).len(), 1);
    }

    #[test]
    fn children_are_seen_without_the_list_of_the_kernel() {
        let parent = Process::find(i32::try_from(std::process::id()).unwrap()).unwrap().parent;
        let siblings = children_of_all(u32::try_from(parent).unwrap()).unwrap();
        assert!(siblings.contains(&i32::try_from(std::process::id()).unwrap()), "{siblings:?}");
    }

    #[test]
    fn this_process_is_seen() {
        let own = i32::try_from(std::process::id()).unwrap();
        let found = all().unwrap().into_iter().find(|process| process.pid == own);
        assert_eq!(found, Process::find(own));
    }
}
