//! Starting programs, and saying so.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context, Result, bail, ensure};

/// One line for a person.
pub(crate) fn say(text: &str) {
    drop(writeln!(std::io::stdout().lock(), "{text}"));
}

/// A program to be started.
#[expect(clippy::disallowed_methods, reason = "tasks start programs; that is what they are for")]
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    Command::new(program)
}

/// The cargo that runs this task, in the project's root.
pub(crate) fn cargo() -> Command {
    let mut cargo = command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root());
    cargo
}

/// The project's root.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new(".")).to_owned()
}

/// The program that `cargo build` made, wherever this cargo builds.
pub(crate) fn belljar() -> Result<PathBuf> {
    belljar_of("debug")
}

/// The program of a profile's folder.
pub(crate) fn belljar_of(profile: &str) -> Result<PathBuf> {
    let metadata = text(cargo().args(["metadata", "--format-version", "1", "--no-deps", "--locked"]))?;
    let metadata: serde_json::Value = serde_json::from_str(&metadata).context("cargo's metadata cannot be read")?;
    let target = metadata["target_directory"].as_str().context("cargo names no target folder")?;
    Ok(Path::new(target).join(profile).join("belljar"))
}

/// Runs a program whose output goes through, and wants it to succeed.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    say(&format!("$ {}", shown(command)));
    let status = command.status().with_context(|| format!("{} cannot be started", shown(command)))?;
    ensure!(status.success(), "{} failed: {status}", shown(command));
    Ok(())
}

/// Runs a program and keeps its output, whatever its exit code.
pub(crate) fn output(command: &mut Command) -> Result<Output> {
    command.output().with_context(|| format!("{} cannot be started", shown(command)))
}

/// Runs a program, wants it to succeed and gives its standard output.
pub(crate) fn text(command: &mut Command) -> Result<String> {
    let output = output(command)?;
    if !output.status.success() {
        bail!("{} failed: {}\n{}", shown(command), output.status, String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}

/// Whether the shell's search path has a program.
pub(crate) fn is_installed(program: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|folder| folder.join(program).is_file())
}

/// Whether this process is root.
pub(crate) fn is_root() -> bool {
    std::fs::read_to_string("/proc/self/status")
        .unwrap_or_default()
        .lines()
        .any(|line| line.starts_with("Uid:") && line.split_whitespace().nth(2) == Some("0"))
}
