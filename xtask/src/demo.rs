//! The demo: the main job from nothing, with real output, every claim asserted.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::process::{self, belljar, cargo, command, output, root, say};
use crate::setup;

const INPUT: &str = r#"{"environment":"staging"}"#;
const SCRIPT: &str = "scripts/check.sh";

/// The controls that must hold for the demo to be worth showing.
const ENFORCED: [&str; 8] =
    ["identity", "capabilities", "no_new_privileges", "network", "files", "seccomp", "secrets", "ending"];

struct Demo {
    binary: PathBuf,
    folder: PathBuf,
}

/// What a command printed and how it ended.
struct Told {
    code: i32,
    stdout: String,
    stderr: String,
}

/// Runs the demo in a folder of its own, which is removed.
pub(crate) fn run() -> Result<()> {
    setup::run_if_missing()?;
    process::run(cargo().args(["build", "--package", "belljar", "--locked"]))?;
    let folder = tempfile::tempdir().context("a temporary folder")?;
    let demo = Demo { binary: belljar()?, folder: folder.path().to_owned() };
    let skill = demo.folder.join("deployment-check");
    copy(&root().join("examples/skills/deployment-check"), &skill)?;
    demo.add_and_look(&skill)?;
    demo.refused_then_granted(&skill)?;
    demo.changed_by_one_byte(&skill)?;
    demo.verified()?;
    say("\nThe demo is over: approved bytes ran, changed bytes did not, and both are on the record.");
    Ok(())
}

impl Demo {
    fn belljar(&self, arguments: &[&str]) -> Result<Told> {
        say(&format!("\n$ belljar {}", arguments.join(" ")));
        let told = output(
            command(&self.binary)
                .args(arguments)
                .env("BELLJAR_STATE", self.folder.join("state"))
                .env_remove("BELLJAR_CONFIG")
                .env("XDG_CONFIG_HOME", self.folder.join("no-config")),
        )?;
        let told = Told {
            code: told.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&told.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&told.stderr).into_owned(),
        };
        say(told.stdout.trim_end());
        if !told.stderr.is_empty() {
            say(told.stderr.trim_end());
        }
        say(&format!("(exit code {})", told.code));
        Ok(told)
    }

    fn add_and_look(&self, skill: &Path) -> Result<()> {
        say("\n== 1. Save a skill, and look at what there is to approve");
        let added = self.belljar(&["skill", "add", &skill.to_string_lossy()])?;
        ensure!(added.code == 0, "the skill could not be saved");
        let shown = self.belljar(&["skill", "show", "deployment-check"])?;
        ensure!(shown.stdout.contains(SCRIPT) && shown.stdout.contains("pin "), "the pin is not shown");
        Ok(())
    }

    fn refused_then_granted(&self, skill: &Path) -> Result<()> {
        say("\n== 2. Nothing runs that nobody approved");
        let refused = self.belljar(&["run", "deployment-check", SCRIPT, "--input", INPUT, "--json"])?;
        let refused = envelope(&refused, 125)?;
        ensure!(refused["error"]["details"]["reason"] == "grant_missing", "expected grant_missing");
        let pin = refused["error"]["details"]["pin"].as_str().context("the refusal names no pin")?.to_owned();
        say("\n== 3. Approve exactly these bytes, and run them in the sandbox with real input");
        let granted = self.belljar(&["grant", "add", "deployment-check", SCRIPT, "--pin", &pin])?;
        ensure!(granted.code == 0, "the grant failed");
        let ran = self.belljar(&["run", &skill.to_string_lossy(), SCRIPT, "--input", INPUT, "--json"])?;
        let data = &envelope(&ran, 0)?["data"];
        ensure!(data["status"] == "success", "the script did not succeed");
        ensure!(data["executor"] == "bubblewrap", "the script did not run in a bubblewrap sandbox");
        ensure!(
            data["stdout"].as_str().is_some_and(|text| text.contains("staging")),
            "the script did not see its input"
        );
        for control in ENFORCED {
            let state = &data["isolation"]["controls"][control]["state"];
            ensure!(state == "enforced", "{control} is {state}, not enforced");
        }
        ensure!(data["receipt"]["sequence"].is_u64() && data["recorded"] == true, "the run is not on the record");
        Ok(())
    }

    fn changed_by_one_byte(&self, skill: &Path) -> Result<()> {
        say("\n== 4. One byte of a sibling file changes, and the approval no longer covers it");
        let sibling = sibling(skill)?;
        let mut bytes = fs::read(&sibling)?;
        let last = bytes.last_mut().context("the sibling is empty")?;
        *last = if *last == b'\n' { b' ' } else { b'\n' };
        fs::write(&sibling, bytes)?;
        say(&format!("changed the last byte of {}", sibling.strip_prefix(skill).unwrap_or(&sibling).display()));
        let refused = self.belljar(&["run", &skill.to_string_lossy(), SCRIPT, "--input", INPUT, "--json"])?;
        let details = &envelope(&refused, 125)?["error"]["details"];
        ensure!(details["reason"] == "content_changed", "expected content_changed");
        ensure!(details["changed_files"].as_array().is_some_and(|files| files.len() == 1), "expected one changed file");
        Ok(())
    }

    fn verified(&self) -> Result<()> {
        say("\n== 5. The record");
        let listed = self.belljar(&["audit", "list"])?;
        for action in ["skill.save", "script.denied", "script.grant", "script.run", "script.outcome"] {
            ensure!(listed.stdout.contains(action), "{action} is not on the record");
        }
        let verified = self.belljar(&["audit", "verify"])?;
        ensure!(verified.code == 0 && verified.stdout.contains("chain valid"), "the chain is not valid");
        Ok(())
    }
}

fn envelope(told: &Told, code: i32) -> Result<Value> {
    ensure!(told.code == code, "expected exit code {code}, got {}", told.code);
    serde_json::from_str(&told.stdout).context("standard output is not one JSON document")
}

/// A file beside the script that the script's result depends on.
fn sibling(skill: &Path) -> Result<PathBuf> {
    let assets = fs::read_dir(skill.join("assets")).context("the example has no assets")?;
    let files = assets.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect::<Vec<_>>();
    let mut waiting = files;
    while let Some(path) = waiting.pop() {
        if path.is_file() {
            return Ok(path);
        }
        waiting.extend(fs::read_dir(&path)?.filter_map(|entry| entry.ok().map(|entry| entry.path())));
    }
    anyhow::bail!("the example has no file in its assets")
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from).with_context(|| format!("{} cannot be read", from.display()))? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
