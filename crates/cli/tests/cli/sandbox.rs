//! No sandbox, no run: absent, set-uid, denied by the kernel. The cause and the remedy are named.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::{Place, Told, binary, is_root, program, skipped, text, told};

const CONFIG: &str = "[execution]\nenabled = true\nplatform_isolation_acknowledged = true\nallow_stored_scripts = true\n[interpreters]\nsh = \"sh\"\n";

fn with_program(place: &Place, bwrap: &str, arguments: &[&str]) -> Told {
    fs::write(place.path("config.toml"), format!("{CONFIG}[bubblewrap]\nprogram = {bwrap:?}\n")).unwrap();
    let path = place.path("config.toml");
    place.belljar(&[&["--config", text(&path)], arguments].concat())
}

fn assert_unavailable(error: &Value, cause: &str) {
    assert_eq!((&error["code"], &error["details"]["cause"]), (&json!("SANDBOX_UNAVAILABLE"), &json!(cause)), "{error}");
    let remedy = error["details"]["remedy"].as_str().unwrap();
    assert!(!remedy.is_empty() && error["message"].as_str().unwrap().contains(remedy), "{error}");
}

#[test]
fn an_absent_bubblewrap() {
    let place = Place::new();
    let folder = place.script("echo ran");
    let run = ["run", text(&folder), "scripts/a.sh", "--grant", "--json"];
    assert_unavailable(&with_program(&place, "/does/not/exist/bwrap", &run).error(125), "missing_program");
    assert_eq!(place.actions(), ["skill.save", "script.grant", "script.denied"]);
    let told = with_program(&place, "/does/not/exist/bwrap", &["run", "demo", "scripts/a.sh", "--explain", "--json"]);
    assert_eq!(told.error(125)["code"], "SANDBOX_UNAVAILABLE");
    let doctor = with_program(&place, "/does/not/exist/bwrap", &["doctor"]);
    assert!(doctor.code == Some(125) && doctor.stdout.contains("missing_program"), "{doctor:?}");
    assert!(doctor.stdout.contains("mend") && doctor.stdout.contains("no script can run here"), "{doctor:?}");
}

#[test]
fn a_set_uid_bubblewrap() {
    if !is_root() {
        return skipped("a_set_uid_bubblewrap", "only root can make a set-uid program of root's");
    }
    let place = Place::new();
    let folder = place.script("echo ran");
    let copy = place.path("bwrap");
    fs::copy("/usr/bin/bwrap", &copy).unwrap();
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o4755)).unwrap();
    let run = ["run", text(&folder), "scripts/a.sh", "--grant", "--json"];
    assert_unavailable(&with_program(&place, text(&copy), &run).error(125), "setuid_program");
    assert!(!place.actions().contains(&"script.run".into()));
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(copy.parent().unwrap(), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(with_program(&place, text(&copy), &run).data(0)["stdout"], "ran\n");
}

/// A namespace in which no further user namespace can be made, as on hosts that forbid them.
fn without_user_namespaces(place: &Place, arguments: &[&str]) -> Told {
    let script = "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$@\"";
    let binary = binary();
    let mut command = program("unshare");
    command.args(["--user", "--map-root-user", "sh", "-c", script, "sh", text(&binary)]).args(arguments);
    command.env("BELLJAR_STATE", place.state()).env("HOME", place.path("home")).stdin(Stdio::null());
    told(&mut command)
}

#[test]
fn user_namespaces_that_the_kernel_denies() {
    let place = Place::new();
    let folder = place.script("echo ran");
    let error =
        without_user_namespaces(&place, &["run", text(&folder), "scripts/a.sh", "--grant", "--json"]).error(125);
    assert_eq!(error["code"], "SANDBOX_UNAVAILABLE", "{error}");
    assert!(!error["details"]["remedy"].as_str().unwrap().is_empty());
    assert!(!place.actions().contains(&"script.run".into()));
    let doctor = without_user_namespaces(&place, &["doctor"]);
    assert!(doctor.code == Some(125) && doctor.stdout.contains("UNAVAILABLE"), "{doctor:?}");
}

#[test]
fn doctor_tells_every_control_and_agrees_with_the_record() {
    let place = Place::new();
    place.script("echo ran");
    let doctor = place.belljar(&["doctor", "--json"]);
    let report = doctor.json()["data"].clone();
    assert_eq!((doctor.code, &report["healthy"]), (Some(0), &json!(true)), "{doctor:?}");
    let controls = report["report"]["controls"].as_object().unwrap();
    assert!(controls.len() >= 24);
    let recorded = place.run(&["--json"]).data(0)["isolation"]["controls"].clone();
    for (name, finding) in controls {
        assert_eq!(recorded[name]["state"], finding["state"], "{name}");
    }
    assert!(place.belljar(&["doctor"]).stdout.contains("meets isolation.require"));
}
