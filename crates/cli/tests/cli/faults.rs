//! A store that cannot be written: nothing starts, and the answer says why.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use crate::support::{Place, Told, binary, is_root, program, skipped, text, told};

/// Runs a shell script as root of a mount namespace of its own; as an ordinary user inside a user
/// namespace, where the sandbox of a nested run is another matter.
fn in_mount_namespace(place: &Place, script: &str, arguments: &[&str]) -> Told {
    let binary = binary();
    let mut command = program("unshare");
    command.args(["--mount", "--propagation", "private", "sh", "-ec", script, "sh", text(&binary)]).args(arguments);
    command.env("BELLJAR_STATE", place.state()).env("STATE", place.state()).env("HOME", place.path("home"));
    told(command.stdin(Stdio::null()))
}

const MARKER: &str = "THE-SCRIPT-RAN";

fn assert_refused(told: &Told, codes: &[&str]) {
    let error = told.error(125);
    let code = error["code"].as_str().unwrap();
    assert!(codes.contains(&code), "{told:?}");
    assert!(!told.stdout.contains(MARKER) && !told.stderr.contains(MARKER), "{told:?}");
}

#[test]
fn a_full_disk() {
    if !is_root() {
        return skipped("a_full_disk", "only root can mount a small file system");
    }
    let place = Place::new();
    let folder = place.script(&format!("echo {MARKER}"));
    place.run(&[]);
    // The store moves to a small file system, and all that is left there is filled.
    let script = "cp -a \"$STATE\" \"$STATE.copy\"; mount -t tmpfs -o size=600k tmpfs \"$STATE\"; \
                  cp -a \"$STATE.copy\"/. \"$STATE\"/; dd if=/dev/zero of=\"$STATE/fill\" bs=4096 2>/dev/null || true; exec \"$@\"";
    let told = in_mount_namespace(&place, script, &["run", text(&folder), "scripts/a.sh", "--json"]);
    assert_refused(&told, &["AUDIT_UNAVAILABLE", "STORE_UNAVAILABLE"]);
    place.assert_trail_is_whole();
}

#[test]
fn a_read_only_mount() {
    if !is_root() {
        return skipped("a_read_only_mount", "only root can mount");
    }
    let place = Place::new();
    let folder = place.script(&format!("echo {MARKER}"));
    place.run(&[]);
    let script = "mount --bind \"$STATE\" \"$STATE\"; mount -o remount,bind,ro \"$STATE\"; exec \"$@\"";
    let told = in_mount_namespace(&place, script, &["run", text(&folder), "scripts/a.sh", "--json"]);
    assert_refused(&told, &["AUDIT_UNAVAILABLE", "STORE_UNAVAILABLE"]);
    place.assert_trail_is_whole();
}

#[test]
fn a_folder_that_this_user_may_not_write() {
    if is_root() {
        return skipped("a_folder_that_this_user_may_not_write", "root may write everywhere; run as an ordinary user");
    }
    let place = Place::new();
    let folder = place.script(&format!("echo {MARKER}"));
    place.run(&[]);
    let state = place.state();
    let files = || fs::read_dir(&state).unwrap().filter_map(Result::ok).filter(|entry| entry.path().is_file());
    files().for_each(|file| fs::set_permissions(file.path(), fs::Permissions::from_mode(0o400)).unwrap());
    fs::set_permissions(&state, fs::Permissions::from_mode(0o500)).unwrap();
    let told = place.belljar(&["run", text(&folder), "scripts/a.sh", "--json"]);
    fs::set_permissions(&state, fs::Permissions::from_mode(0o700)).unwrap();
    files().for_each(|file| fs::set_permissions(file.path(), fs::Permissions::from_mode(0o600)).unwrap());
    assert_refused(&told, &["AUDIT_UNAVAILABLE", "STORE_UNAVAILABLE"]);
    place.assert_trail_is_whole();
}

#[test]
fn locked_by_another_processes_transaction() {
    let place = Place::new();
    let folder = place.script(&format!("echo {MARKER}"));
    place.run(&[]);
    let script = format!(
        "import sqlite3, sys\nc = sqlite3.connect({:?}, isolation_level=None)\nc.execute('begin immediate')\nprint('locked', flush=True)\nsys.stdin.read()",
        text(&place.state().join("belljar.db"))
    );
    let mut locker =
        program("python3").args(["-c", &script]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(locker.stdout.take().unwrap()), &mut line).unwrap();
    let told = place.belljar(&["run", text(&folder), "scripts/a.sh", "--json"]);
    drop(locker.stdin.take());
    locker.wait().unwrap();
    assert_refused(&told, &["AUDIT_UNAVAILABLE", "STORE_UNAVAILABLE"]);
    assert_eq!(place.belljar(&["run", text(&folder), "scripts/a.sh"]).code, Some(0));
    place.assert_trail_is_whole();
}

#[test]
fn a_database_that_is_no_database() {
    let place = Place::new();
    let folder = place.script(&format!("echo {MARKER}"));
    fs::create_dir_all(place.state()).unwrap();
    fs::write(place.state().join("belljar.db"), vec![b'x'; 8192]).unwrap();
    let told = place.belljar(&["run", text(&folder), "scripts/a.sh", "--grant", "--json"]);
    assert_refused(&told, &["STORE_UNAVAILABLE"]);
    assert_eq!(fs::read(place.state().join("belljar.db")).unwrap(), vec![b'x'; 8192], "nothing was overwritten");
}
