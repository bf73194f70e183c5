//! A writer process that is killed: what it acknowledged is there, and the chain holds.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use belljar_core::audit::Action;
use belljar_core::execution::{ExecutionRecord, Status};
use belljar_core::ports::{Audit, Executions};

use crate::world::{about, assert_valid, draft, folder, open, record, tenant, trail, verify};

/// Where a child writes, and how much; endlessly when that is not set.
pub(crate) const FOLDER: &str = "BELLJAR_TEST_FOLDER";
pub(crate) const ENTRIES: &str = "BELLJAR_TEST_ENTRIES";

/// This binary again, to run one ignored test as a process of its own.
#[expect(clippy::disallowed_methods, reason = "the fault under test is the death of a process")]
pub(crate) fn child(name: &str, folder: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([name, "--exact", "--ignored", "--nocapture", "--test-threads=1"]).env(FOLDER, folder);
    command.stdout(Stdio::piped());
    command
}

pub(crate) fn child_folder() -> PathBuf {
    std::env::var_os(FOLDER).expect("run by another test").into()
}

/// What a child acknowledged until its end, after `wait` lines were seen and `then` was done to it.
pub(crate) fn acknowledged(mut child: Child, wait: usize, then: impl FnOnce(&mut Child)) -> Vec<(u64, String)> {
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let (mut seen, mut then) = (Vec::new(), Some(then));
    loop {
        if seen.len() >= wait
            && let Some(then) = then.take()
        {
            then(&mut child);
        }
        let mut line = String::new();
        if output.read_line(&mut line).unwrap() == 0 {
            break;
        }
        // The libtest harness writes before the first on the same line; a line that was cut off is none.
        let Some((_, entry)) = line.strip_suffix('\n').and_then(|line| line.split_once("acknowledged ")) else {
            continue;
        };
        let (sequence, id) = entry.split_once(' ').unwrap();
        seen.push((sequence.parse().unwrap(), id.to_owned()));
    }
    child.wait().unwrap();
    seen
}

async fn write_on(store: belljar_store::Store, entries: usize) {
    let tell = |sequence: u64, id: &str| {
        let mut out = std::io::stdout().lock();
        writeln!(out, "acknowledged {sequence} {id}").unwrap();
        out.flush().unwrap();
    };
    for turn in 0..entries {
        let receipt = if turn % 2 == 0 {
            let run = record(&store);
            let receipt = store.open(run.clone(), about(&run, Action::ScriptRun)).await.unwrap().receipt().unwrap();
            if turn % 4 == 0 {
                let ended = ExecutionRecord { status: Status::Success, ..run.clone() };
                assert!(Executions::close(&store, ended, about(&run, Action::ScriptOutcome)).await.unwrap());
            }
            receipt
        } else {
            store.append(draft(Action::AccessDenied)).await.unwrap()
        };
        tell(receipt.sequence, receipt.audit_id.as_str());
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "started by other tests as a process of its own"]
async fn child_writer() {
    let store = open(&child_folder()).await;
    let entries = std::env::var(ENTRIES).map_or(usize::MAX, |text| text.parse().unwrap());
    let tasks: Vec<_> = (0..3).map(|_| tokio::spawn(write_on(store.clone(), entries))).collect();
    for task in tasks {
        task.await.unwrap();
    }
}

async fn assert_kept(folder: &Path, acknowledged: &[(u64, String)]) {
    let store = open(folder).await;
    assert_valid(&store, &tenant()).await;
    let trail = trail(&store, &tenant()).await;
    for (sequence, id) in acknowledged {
        let entry = &trail[usize::try_from(*sequence).unwrap() - 1];
        assert_eq!((entry.sequence, entry.id.as_str()), (*sequence, id.as_str()));
    }
    for run in store.orphans().await.unwrap() {
        let lost = ExecutionRecord { status: Status::Lost, ..run.clone() };
        assert!(Executions::close(&store, lost, about(&run, Action::ScriptOutcome)).await.unwrap());
    }
    let verification = verify(&store, &tenant()).await;
    assert_eq!((verification.fault, verification.running), (None, 0));
    assert_eq!(verification.runs, verification.outcomes);
    store.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_writer_killed_at_any_moment_loses_nothing_it_acknowledged() {
    let folder = folder();
    let mut all = Vec::new();
    for round in 0..20_u64 {
        let child = child("crashes::child_writer", folder.path()).spawn().unwrap();
        let wait = usize::try_from(round * 13 % 29).unwrap();
        all.extend(acknowledged(child, wait, |child| {
            std::thread::sleep(Duration::from_micros(round * 157));
            child.kill().unwrap();
        }));
        assert_kept(folder.path(), &all).await;
    }
    assert!(!all.is_empty());
}

#[cfg(feature = "crash-points")]
async fn crash(folder: &Path, point: &str) -> Vec<(u64, String)> {
    let mut child = child("crashes::child_writer", folder);
    let child = child.env("BELLJAR_CRASH_AT", point).stderr(Stdio::null()).spawn().unwrap();
    let seen = acknowledged(child, usize::MAX, |_| {});
    assert_kept(folder, &seen).await;
    seen
}

#[cfg(feature = "crash-points")]
#[tokio::test(flavor = "multi_thread")]
async fn a_crash_at_each_point_of_a_commit_keeps_all_of_the_batch_or_nothing() {
    for (point, is_durable) in [("before_commit", false), ("after_commit", true), ("after_heads", true)] {
        let folder = folder();
        assert_eq!(crash(folder.path(), point).await, [], "nothing was acknowledged");
        let store = open(folder.path()).await;
        assert_eq!(store.head(&tenant()).await.unwrap().sequence > 0, is_durable, "{point}");
        store.close().await;
        assert!(!crash(folder.path(), &format!("{point}:5")).await.is_empty());
    }
}
