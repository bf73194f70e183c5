//! All checks and tests: style, lints, directions, every test, the suites that touch processes and files
//! once more as an ordinary user, and the hostile corpus as both.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use tempfile::TempDir;

use crate::process::{belljar, cargo, command, is_root, run, say};
use crate::{directions, setup};

/// The features of every build here, so that there is one build.
const FEATURES: [&str; 2] = ["--features", "belljar/crash-points"];

/// Packages whose tests run again as an ordinary user.
const AS_ORDINARY: [&str; 4] = ["belljar-executors", "belljar-store", "belljar", "belljar-example-runner-client"];

/// The ordinary user: a number without account or groups.
const ORDINARY: &str = "4242";

/// Runs everything; the corpus comes last, and with it the test runner's own summary.
pub(crate) fn run_task() -> Result<()> {
    setup::run_if_missing()?;
    step("format");
    run(cargo().args(["fmt", "--all", "--check"]))?;
    step("directions");
    directions::run()?;
    step("lints");
    run(cargo()
        .args(["clippy", "--workspace", "--all-targets", "--locked"])
        .args(FEATURES)
        .args(["--", "-D", "warnings"]))?;
    step("documentation");
    run(cargo().args(["doc", "--workspace", "--no-deps", "--locked"]).env("RUSTDOCFLAGS", "-D warnings"))?;
    step("tests");
    // One build for all tests: what tests ask of their libraries would make another one of a plain build.
    run(cargo().args(["test", "--no-run", "--workspace", "--locked"]).args(FEATURES))?;
    run(cargo().args(["test", "--workspace", "--exclude", "belljar-attacks", "--locked"]).args(FEATURES))?;
    if is_root() {
        step("tests as an ordinary user");
        as_ordinary_user()?;
    } else {
        say("skipped: the tests as root: this is an ordinary user; run the task as root too");
        ensure!(std::env::var_os("CI").is_none(), "CI runs the tests as root and as an ordinary user");
    }
    step("hostile corpus");
    let binary = belljar()?;
    // The whole workspace, so that nothing is built a second time with fewer features.
    run(cargo()
        .args(["test", "--workspace", "--test", "attacks", "--locked"])
        .args(FEATURES)
        .env("BELLJAR_BINARY", binary))
}

fn step(name: &str) {
    say(&format!("\n== {name}"));
}

/// Copies the test programs to where everybody can read them, and runs them as a number.
fn as_ordinary_user() -> Result<()> {
    let place = TempDir::with_prefix("belljar-ordinary-").context("a temporary folder")?;
    open_to_all(place.path(), 0o755)?;
    let binary = copy(&belljar()?, place.path())?;
    let home = place.path().join("home");
    fs::create_dir(&home)?;
    open_to_all(&home, 0o777)?;
    for program in test_programs()? {
        let program = copy(&program, place.path())?;
        let mut test = command("setpriv");
        test.args(["--reuid", ORDINARY, "--regid", ORDINARY, "--clear-groups", "--"]).arg(program);
        let test = test.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("LANG", "C.UTF-8");
        run(test.env("HOME", &home).env("TMPDIR", &home).env("BELLJAR_BINARY", &binary).current_dir(&home))?;
    }
    Ok(())
}

fn open_to_all(path: &Path, mode: u32) -> Result<()> {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).with_context(|| path.display().to_string())
}

fn copy(program: &Path, folder: &Path) -> Result<PathBuf> {
    let target = folder.join(program.file_name().context("a program without a name")?);
    fs::copy(program, &target).with_context(|| format!("{} cannot be copied", program.display()))?;
    open_to_all(&target, 0o755)?;
    Ok(target)
}

/// The integration tests that cargo has built.
fn test_programs() -> Result<Vec<PathBuf>> {
    let mut build = cargo();
    build.args([
        "test",
        "--no-run",
        "--locked",
        "--message-format",
        "json",
        "--workspace",
        "--exclude",
        "belljar-attacks",
    ]);
    let messages = crate::process::text(build.args(FEATURES))?;
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let programs: Vec<_> = messages
        .filter(|message| message["target"]["kind"][0] == "test")
        .filter(|message| {
            let package = message["package_id"].as_str().unwrap_or_default();
            // An id ends in `/folder#version`, or in `#name@version` where the two names differ.
            let name = package.rsplit('#').next().unwrap_or_default();
            let name = name.split('@').next().unwrap_or_default();
            AS_ORDINARY.contains(&name)
        })
        .filter_map(|message| message["executable"].as_str().map(PathBuf::from))
        .collect();
    ensure!(programs.len() >= AS_ORDINARY.len(), "the integration tests of {AS_ORDINARY:?} were not found");
    Ok(programs)
}
