//! What takes too long for every change: random kills under load, and a thousand runs.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use tempfile::TempDir;

use crate::process::{belljar, cargo, command, run, say, text};
use crate::setup;

/// Processes that are killed.
const KILLS: usize = 200;
/// Processes at once.
const AT_ONCE: usize = 4;
/// Runs that end by themselves.
const RUNS: usize = 1000;
/// Stands in the command line of every script's child, so that a survivor is found.
const MARK: &str = "belljar-soak-survivor";

struct Soak {
    binary: PathBuf,
    folder: TempDir,
}

/// Runs the soak and prints its summary.
pub(crate) fn run_task() -> Result<()> {
    setup::run_if_missing()?;
    run(cargo().args(["build", "--package", "belljar", "--locked"]))?;
    let soak = Soak { binary: belljar()?, folder: TempDir::new().context("a temporary folder")? };
    soak.prepare()?;
    let acknowledged = soak.kills()?;
    let mixed = soak.mixed()?;
    say(&format!("\nsoak: {KILLS} kills at random moments, {AT_ONCE} at once: {acknowledged}"));
    say(&format!("soak: {RUNS} runs, {AT_ONCE} at once: {mixed}"));
    Ok(())
}

impl Soak {
    fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    fn belljar(&self, arguments: &[&str]) -> std::process::Command {
        let mut belljar = command(&self.binary);
        belljar.args(arguments).env("BELLJAR_STATE", self.state()).stdin(Stdio::null());
        belljar
    }

    fn json(&self, arguments: &[&str]) -> Result<Value> {
        let printed = text(&mut self.belljar(arguments))?;
        serde_json::from_str(&printed).with_context(|| printed.clone())
    }

    fn prepare(&self) -> Result<()> {
        let skill = self.folder.path().join("soak");
        fs::create_dir_all(skill.join("scripts"))?;
        fs::write(skill.join("SKILL.md"), "---\nname: soak\ndescription: Scripts for the soak.\n---\n")?;
        let script = format!("echo started; sh -c 'sleep 0.2; : {MARK}' & sleep 0.05; exit $(($$ % 3))\n");
        fs::write(skill.join("scripts/a.sh"), script)?;
        let folder = skill.to_string_lossy().into_owned();
        drop(self.belljar(&["run", &folder, "scripts/a.sh", "--grant"]).output()?);
        Ok(())
    }

    fn start(&self) -> Result<Child> {
        let mut belljar = self.belljar(&["run", "soak", "scripts/a.sh", "--json"]);
        Ok(belljar.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?)
    }

    /// Kills processes at random moments while others run; what was acknowledged must be there.
    fn kills(&self) -> Result<String> {
        let mut acknowledged = BTreeSet::new();
        let mut killed = 0;
        while killed < KILLS {
            let mut children: Vec<_> = (0..AT_ONCE).map(|_| self.start()).collect::<Result<_>>()?;
            // The last one of a group is left alone: load, and a neighbour that must not be touched.
            let spared = children.pop();
            for mut child in children {
                std::thread::sleep(Duration::from_millis(random(40)?));
                child.kill()?;
                acknowledged.extend(receipt(child)?);
                killed += 1;
            }
            if let Some(child) = spared {
                let kept = receipt(child)?;
                ensure!(kept.is_some(), "a run beside killed ones did not end well");
                acknowledged.extend(kept);
            }
        }
        self.check(&acknowledged)?;
        Ok(format!(
            "{killed} killed, {} acknowledged, all of them on the record; chain valid; nothing left",
            acknowledged.len()
        ))
    }

    fn mixed(&self) -> Result<String> {
        let before = descriptors_and_mounts()?;
        let mut acknowledged = BTreeSet::new();
        for round in 0..RUNS / AT_ONCE {
            let children: Vec<_> = (0..AT_ONCE).map(|_| self.start()).collect::<Result<_>>()?;
            for child in children {
                let kept = receipt(child)?;
                ensure!(kept.is_some(), "a run did not end with a receipt");
                acknowledged.extend(kept);
            }
            if (round + 1) % 50 == 0 {
                say(&format!("{} of {RUNS} runs", (round + 1) * AT_ONCE));
            }
        }
        self.check(&acknowledged)?;
        ensure!(descriptors_and_mounts()? == before, "mounts or uid leases of runs are left");
        Ok(format!("{} acknowledged, all of them on the record; chain valid; nothing left", acknowledged.len()))
    }

    /// The store opens, the chain verifies, every acknowledged entry is there, nothing runs.
    fn check(&self, acknowledged: &BTreeSet<(u64, String)>) -> Result<()> {
        let verified = self.json(&["audit", "verify", "--json"])?;
        ensure!(verified["data"]["valid"] == true, "{verified}");
        ensure!(
            verified["data"]["running"] == 0 && verified["data"]["runs"] == verified["data"]["outcomes"],
            "{verified}"
        );
        let exported = text(&mut self.belljar(&["audit", "export"]))?;
        let entries: BTreeSet<_> = exported
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok())
            .filter_map(|entry| Some((entry["sequence"].as_u64()?, entry["hash"].as_str()?.to_owned())))
            .collect();
        let missing: Vec<_> = acknowledged.difference(&entries).collect();
        ensure!(missing.is_empty(), "acknowledged and gone: {missing:?}");
        std::thread::sleep(Duration::from_secs(2));
        let survivors = survivors()?;
        ensure!(survivors.is_empty(), "still running: {survivors:?}");
        Ok(())
    }
}

/// The receipt of an answer, when there is one.
fn receipt(child: Child) -> Result<Option<(u64, String)>> {
    let output = child.wait_with_output()?;
    let Ok(envelope) = serde_json::from_slice::<Value>(&output.stdout) else { return Ok(None) };
    let receipt = &envelope["data"]["receipt"];
    Ok(receipt["sequence"].as_u64().zip(receipt["hash"].as_str().map(str::to_owned)))
}

/// A random number below `most`, from the kernel.
fn random(most: u64) -> Result<u64> {
    let mut bytes = [0; 8];
    std::io::Read::read_exact(&mut fs::File::open("/dev/urandom")?, &mut bytes)?;
    Ok(u64::from_le_bytes(bytes) % most)
}

fn survivors() -> Result<Vec<String>> {
    let mut found = Vec::new();
    for process in fs::read_dir("/proc")?.filter_map(Result::ok) {
        let line = fs::read(process.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        if line.contains(MARK) || line.contains("/proc/self/fd/") {
            found.push(line);
        }
    }
    Ok(found)
}

/// What a run could leave on the host: mounts, and control groups.
fn descriptors_and_mounts() -> Result<usize> {
    let mounts = fs::read_to_string("/proc/self/mounts")?;
    let leases = Path::new("/run/belljar");
    ensure!(!leases.exists() || leases.is_dir(), "the folder of uid leases is none");
    Ok(mounts.lines().count())
}
