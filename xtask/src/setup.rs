//! The system packages that building, the demo and the tests need: announced, then installed.

use anyhow::{Result, bail};

use crate::process::{command, is_installed, is_root, run, say};

/// Program and the Debian package that brings it.
const NEEDED: [(&str, &str); 6] = [
    ("bwrap", "bubblewrap"),
    ("python3", "python3"),
    (VENV, "python3-venv"),
    ("npm", "npm"),
    ("cc", "gcc libc6-dev"),
    ("setpriv", "util-linux"),
];

/// The module with which Python makes an environment for other people's programs.
const VENV: &str = "python3 -m venv";

/// Installs what is missing, by `sudo` when this is not root.
pub(crate) fn run_if_missing() -> Result<()> {
    let missing: Vec<_> = NEEDED.iter().filter(|(program, _)| !is_present(program)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let packages: Vec<_> = missing.iter().flat_map(|(_, packages)| packages.split(' ')).collect();
    let programs: Vec<_> = missing.iter().map(|(program, _)| *program).collect();
    say(&format!("missing: {}; about to install the packages {}", programs.join(", "), packages.join(" ")));
    if !is_installed("apt-get") {
        bail!("this system has no apt-get; install these packages' programs by hand: {}", packages.join(" "));
    }
    apt(&["update", "-qq"])?;
    apt(&[&["install", "-y", "-qq", "--no-install-recommends"], &packages[..]].concat())?;
    for (program, packages) in missing {
        if !is_present(program) {
            bail!("{program} is still missing after {packages} was installed");
        }
    }
    Ok(())
}

/// The task of that name.
pub(crate) fn run_task() -> Result<()> {
    run_if_missing()?;
    say("everything that is needed is installed");
    Ok(())
}

/// `python3` must be a system one: one in a home folder is invisible in the sandbox.
fn is_present(program: &str) -> bool {
    match program {
        "python3" => {
            ["/usr/bin/python3", "/usr/local/bin/python3"].iter().any(|path| std::path::Path::new(path).exists())
        }
        VENV => {
            command("python3").args(["-c", "import venv, ensurepip"]).output().is_ok_and(|told| told.status.success())
        }
        _ => is_installed(program),
    }
}

fn apt(arguments: &[&str]) -> Result<()> {
    let mut apt = if is_root() {
        command("apt-get")
    } else {
        let mut sudo = command("sudo");
        sudo.arg("apt-get");
        sudo
    };
    run(apt.args(arguments).env("DEBIAN_FRONTEND", "noninteractive"))
}
