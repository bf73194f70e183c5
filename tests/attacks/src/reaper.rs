//! Starts the program under test and sees to it that nothing of the run is left.
//!
//! This is a process of its own, which the harness starts for every call. It is a child subreaper with one
//! child: whatever the program leaves behind, in whatever session or process group, becomes a child of this
//! process when its parent ends. So "no child is left" is an answer of the kernel, exact and in one step,
//! where a listing of processes would miss one that hops from pid to pid, and would see the neighbours'.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions};
use serde::{Deserialize, Serialize};

/// The first argument that makes the test's own executable a reaper.
pub(crate) const WORD: &str = "--reap";

/// How long after the result something of the run may still be there.
const GRACE: Duration = Duration::from_secs(1);

const STEP: Duration = Duration::from_millis(2);

/// What the reaper found out.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Report {
    /// From start to exit of the program.
    pub(crate) wall: Duration,
    /// Exit code of the program.
    pub(crate) code: Option<i32>,
    /// It did not end by itself in the time given.
    pub(crate) hung: bool,
    /// Processes that the program left behind, ended or not.
    pub(crate) orphans: usize,
    /// Those that were still there after the grace: pid, state and command line.
    pub(crate) survivors: Vec<String>,
}

/// The arguments for [`main`], after the word.
pub(crate) fn arguments(limit: Duration, report: &Path) -> [String; 3] {
    [WORD.to_owned(), limit.as_secs().to_string(), report.display().to_string()]
}

/// `--reap SECONDS REPORT PROGRAM ARGUMENTS…`
pub(crate) fn main(arguments: &[String]) -> Result<()> {
    let [limit, report, program, rest @ ..] = arguments else { bail!("{WORD} SECONDS REPORT PROGRAM ARGUMENTS…") };
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    let mut command = start(program);
    let found = watch(command.args(rest).stdin(Stdio::null()), Duration::from_secs(limit.parse()?))?;
    fs::write(report, serde_json::to_vec(&found)?).with_context(|| report.clone())
}

/// A command of the harness: itself, `setpriv`, a decoy.
#[expect(clippy::disallowed_methods, reason = "a harness starts the program that it tests")]
pub(crate) fn start(program: impl AsRef<std::ffi::OsStr>) -> Command {
    Command::new(program)
}

#[expect(clippy::disallowed_methods, reason = "wall time as a caller sees it is what is measured")]
fn now() -> Instant {
    Instant::now()
}

fn watch(command: &mut Command, limit: Duration) -> Result<Report> {
    let begun = now();
    let mut child = command.spawn().with_context(|| format!("{command:?}"))?;
    let mut report = Report::default();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if begun.elapsed() > limit && !report.hung {
            report.hung = true;
            child.kill()?;
        }
        std::thread::sleep(STEP);
    };
    report.wall = begun.elapsed();
    report.code = status.code();
    settle(&mut report)?;
    Ok(report)
}

/// Waits until no child is left, at most for the grace, and ends what is left then.
fn settle(report: &mut Report) -> Result<()> {
    let ended = now();
    loop {
        match rustix::process::wait(WaitOptions::NOHANG) {
            Err(Errno::CHILD) => return Ok(()),
            Err(error) => return Err(error.into()),
            Ok(Some(_)) => {
                report.orphans += 1;
                continue;
            }
            Ok(None) => {}
        }
        let late = ended.elapsed();
        if late > GRACE {
            let left = descendants();
            if report.survivors.is_empty() {
                report.survivors = left.iter().map(|pid| describe(*pid)).collect();
                // One that hops from pid to pid is a child of this process, and in no listing.
                report.survivors.push(format!("{} in the listing", left.len()));
            }
            left.into_iter().filter_map(Pid::from_raw).for_each(|pid| {
                // One that is gone already is what is wanted.
                let _ = rustix::process::kill_process(pid, Signal::KILL);
            });
        }
        if late > GRACE * 10 {
            bail!("what the run left behind cannot be killed: {:?}", report.survivors);
        }
        std::thread::sleep(STEP);
    }
}

/// Every process that descends from this one.
fn descendants() -> Vec<i32> {
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    for pid in entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()) {
        if let Some(parent) = stat(pid).and_then(|stat| stat.get(1)?.parse().ok()) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut found = BTreeSet::new();
    let mut open = vec![rustix::process::getpid().as_raw_nonzero().get()];
    while let Some(pid) = open.pop() {
        open.extend(children.get(&pid).into_iter().flatten().filter(|child| found.insert(**child)));
    }
    found.into_iter().collect()
}

/// The state letter of a process, and what follows it.
pub(crate) fn stat(pid: i32) -> Option<Vec<String>> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = text.rsplit_once(')')?;
    Some(rest.split_whitespace().map(str::to_owned).collect())
}

fn describe(pid: i32) -> String {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let line = String::from_utf8_lossy(&line).replace('\0', " ");
    let state = stat(pid).and_then(|stat| stat.first().cloned()).unwrap_or_default();
    format!("{pid} {state} {}", line.trim_end())
}
