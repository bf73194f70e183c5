//! A state folder of its own, and the program under test.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

use crate::programs::command;

/// The program under test: `BELLJAR_BINARY`, else what cargo built beside these tests.
pub(crate) fn belljar() -> PathBuf {
    let built = std::env::current_exe().unwrap().ancestors().nth(2).unwrap().join("belljar");
    let path = std::env::var_os("BELLJAR_BINARY").map_or(built, PathBuf::from);
    assert!(
        path.exists(),
        "{} is missing: build it with `cargo build -p belljar`, or name it in BELLJAR_BINARY",
        path.display()
    );
    path
}

/// A state folder and room for files, gone at the end.
pub(crate) struct Place {
    folder: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { folder: TempDir::new().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut belljar = command(belljar());
        belljar.env("BELLJAR_STATE", self.path("state")).env("HOME", self.folder.path()).args(arguments);
        belljar
    }

    /// Runs it, wants it to succeed, and gives its standard output.
    pub(crate) fn belljar(&self, arguments: &[&str]) -> String {
        succeeded(&self.command(arguments).output().unwrap())
    }

    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.belljar(&[arguments, &["--json"]].concat())).unwrap()
    }
}

/// The standard output of what succeeded.
pub(crate) fn succeeded(output: &Output) -> String {
    let (out, error) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{}: {out}\n{error}", output.status);
    out.into_owned()
}

pub(crate) fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}
