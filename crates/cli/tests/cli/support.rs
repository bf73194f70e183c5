//! A place to work in: a state folder, skills, and the binary.

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// The binary under test: the one that the environment names, else the one that cargo built.
pub(crate) fn binary() -> PathBuf {
    std::env::var_os("BELLJAR_BINARY").map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_belljar")), PathBuf::from)
}

/// A program with nothing of this environment but its search path.
#[expect(clippy::disallowed_methods, reason = "tests start programs")]
pub(crate) fn program(name: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(name);
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("LANG", "C.UTF-8");
    command
}

/// A state folder and skills of its own, gone at the end.
pub(crate) struct Place {
    folder: TempDir,
}

/// How a command ended.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { folder: TempDir::new().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.path("state")
    }

    /// Writes a skill `demo` with these files and gives its folder.
    pub(crate) fn skill(&self, files: &[(&str, &[u8])]) -> PathBuf {
        let folder = self.path("demo");
        drop(fs::remove_dir_all(&folder));
        let front = b"---\nname: demo\ndescription: A skill for tests.\n---\nBody.\n";
        for (path, bytes) in [("SKILL.md", &front[..])].iter().chain(files) {
            let file = folder.join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, bytes).unwrap();
        }
        folder
    }

    /// A skill with one shell script, `scripts/a.sh`.
    pub(crate) fn script(&self, content: &str) -> PathBuf {
        self.skill(&[("scripts/a.sh", content.as_bytes())])
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = program(binary());
        command.args(arguments).env("BELLJAR_STATE", self.state()).env("HOME", self.folder.path());
        command
    }

    pub(crate) fn belljar(&self, arguments: &[&str]) -> Told {
        told(self.command(arguments).stdin(Stdio::null()))
    }

    /// `belljar run` on the demo folder's shell script, approved.
    pub(crate) fn run(&self, more: &[&str]) -> Told {
        let folder = self.path("demo");
        let mut arguments = vec!["run", folder.to_str().unwrap(), "scripts/a.sh", "--grant"];
        arguments.extend(more);
        self.belljar(&arguments)
    }

    /// The actions on the record, in order.
    pub(crate) fn actions(&self) -> Vec<String> {
        let exported = self.belljar(&["audit", "export"]);
        assert_eq!(exported.code, Some(0), "{exported:?}");
        exported.stdout.lines().map(|line| json(line)["action"].as_str().unwrap().to_owned()).collect()
    }

    /// The chain is valid, and every run has its outcome.
    pub(crate) fn assert_trail_is_whole(&self) {
        let told = self.belljar(&["audit", "verify", "--json"]);
        let data = &told.json()["data"];
        assert_eq!((told.code, &data["valid"]), (Some(0), &Value::Bool(true)), "{told:?}");
        assert_eq!(data["runs"], data["outcomes"], "{told:?}");
    }
}

pub(crate) fn told(command: &mut Command) -> Told {
    let output = command.output().unwrap();
    Told {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Runs a command with this on its standard input.
pub(crate) fn told_with_input(command: &mut Command, input: &[u8]) -> Told {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdin.take().unwrap().write_all(input));
    wait(child)
}

pub(crate) fn wait(child: Child) -> Told {
    let output = child.wait_with_output().unwrap();
    Told {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

pub(crate) fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

impl Told {
    /// The one JSON document on standard output.
    pub(crate) fn json(&self) -> Value {
        json(&self.stdout)
    }

    /// The execution of a run that ended with this code.
    pub(crate) fn data(&self, code: i32) -> Value {
        assert_eq!(self.code, Some(code), "{self:?}");
        let envelope = self.json();
        assert_eq!(envelope["kind"], "execution", "{self:?}");
        envelope["data"].clone()
    }

    /// The error of a call that ended with this exit code.
    pub(crate) fn error(&self, exit: i32) -> Value {
        assert_eq!(self.code, Some(exit), "{self:?}");
        let envelope = self.json();
        assert_eq!(envelope["kind"], "error", "{self:?}");
        envelope["error"].clone()
    }
}

pub(crate) fn is_root() -> bool {
    fs::metadata("/proc/self").map(|own| std::os::unix::fs::MetadataExt::uid(&own)).unwrap_or(1) == 0
}

/// Says that a test was skipped, and why.
pub(crate) fn skipped(test: &str, why: &str) {
    println!("skipped: {test}: {why}");
}

/// Processes of this machine whose command line holds a word.
pub(crate) fn processes_with(word: &str) -> Vec<String> {
    let processes = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let own = std::process::id().to_string();
    processes
        .filter(|process| process.file_name().to_str() != Some(own.as_str()))
        .filter_map(|process| fs::read(process.path().join("cmdline")).ok())
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .filter(|line| line.contains(word))
        .collect()
}

/// Waits until something is so, for a time that only a hang exceeds.
pub(crate) fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..600 {
        if is_so() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    panic!("waited in vain: {what}");
}

pub(crate) fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}
