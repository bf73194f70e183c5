//! Builds `init` as a static program of its own, so that one file is all that ships.

#![expect(clippy::disallowed_methods, reason = "a build script starts the compiler")]

use std::env;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Variables of cargo that say where to fetch from; the others describe this build, not the nested one.
const KEPT: [&str; 5] = ["CARGO_HOME", "CARGO_NET_", "CARGO_HTTP_", "CARGO_REGISTR", "CARGO_SOURCE_"];

fn main() -> Result<(), Box<dyn Error>> {
    for watched in ["../init/src", "../init/Cargo.toml", "../../Cargo.lock", "build.rs"] {
        println!("cargo::rerun-if-changed={watched}");
    }
    if env::var("CARGO_CFG_TARGET_OS")? != "linux" {
        return Err("sandboxes need Linux".into());
    }
    let architecture = env::var("CARGO_CFG_TARGET_ARCH")?;
    let musl = format!("{architecture}-unknown-linux-musl");
    // musl makes the smaller program; glibc does where that target is not installed.
    let (target, flags) = if has_target(&musl)? {
        (musl, "")
    } else {
        let gnu = format!("{architecture}-unknown-linux-gnu");
        (gnu, "-C target-feature=+crt-static -C relocation-model=static")
    };
    let folder = PathBuf::from(env::var("OUT_DIR")?).join("init");
    build(&target, flags, &folder)?;
    let program = folder.join(&target).join("init").join("belljar-init");
    println!("cargo::rustc-env=BELLJAR_INIT={}", program.display());
    Ok(())
}

fn has_target(target: &str) -> Result<bool, Box<dyn Error>> {
    let answer = Command::new(env::var("RUSTC")?).args(["--print", "target-libdir", "--target", target]).output()?;
    Ok(answer.status.success() && Path::new(String::from_utf8(answer.stdout)?.trim()).is_dir())
}

fn build(target: &str, flags: &str, folder: &Path) -> Result<(), Box<dyn Error>> {
    let mut cargo = Command::new(env::var("CARGO")?);
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        let of_this_build = text.starts_with("CARGO_") && !KEPT.iter().any(|kept| text.starts_with(kept));
        // A wrapper is clippy's driver or a cache: neither may stand in for the compiler here.
        if of_this_build || matches!(&*text, "RUSTC_WRAPPER" | "RUSTC_WORKSPACE_WRAPPER" | "RUSTFLAGS" | "RUSTDOCFLAGS")
        {
            cargo.env_remove(&name);
        }
    }
    let status = cargo
        .args(["build", "--quiet", "--locked", "--manifest-path", "../init/Cargo.toml", "--bin", "belljar-init"])
        .args(["--profile", "init", "--target", target, "--target-dir"])
        .arg(folder)
        .env("RUSTFLAGS", flags)
        .status()?;
    if status.success() { Ok(()) } else { Err("init could not be built".into()) }
}
