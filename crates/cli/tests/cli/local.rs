//! The executor `local`: only where a configuration file names it, and every result says what it is.

use std::fs;

use serde_json::json;

use crate::support::{Place, Told, processes_with, text};

const LOCAL: &str = "[execution]\nenabled = true\nplatform_isolation_acknowledged = true\nallow_stored_scripts = true\n\
                     executor = \"local\"\n[interpreters]\nsh = \"sh\"\npy = \"python\"\n";

fn with_config(place: &Place, config: &str, arguments: &[&str]) -> Told {
    fs::write(place.path("config.toml"), config).unwrap();
    place.belljar(&[&["--config", text(&place.path("config.toml"))], arguments].concat())
}

#[test]
fn a_script_runs_as_a_plain_process_and_the_result_says_so() {
    let place = Place::new();
    let folder = place.script("cat; echo; pwd; ls -A \"$TRACON_SKILL_TEMP\"; env; exit 3");
    let run = ["run", text(&folder), "scripts/a.sh", "--grant", "--input", "{\"a\":1}"];
    let told = with_config(&place, LOCAL, &run);
    assert_eq!(told.code, Some(3), "{told:?}");
    assert!(told.stdout.starts_with("{\"a\":1}\n"), "{told:?}");
    assert!(told.stderr.contains("nothing isolated this script (executor local)"), "{told:?}");
    assert!(!told.stdout.contains("BELLJAR_STATE"), "nothing of the host's environment: {told:?}");
    let data = with_config(&place, LOCAL, &[&run[..], &["--json"]].concat()).data(3);
    assert_eq!(data["executor"], "local");
    let controls = data["isolation"]["controls"].as_object().unwrap();
    assert!(!controls.is_empty() && controls.values().all(|finding| finding["state"] == "missing"), "{controls:?}");
    let exported = place.belljar(&["audit", "export"]);
    let entry = exported.stdout.lines().map(crate::support::json).find(|entry| entry["action"] == "script.run");
    assert!(entry.unwrap()["after"].as_str().unwrap().contains("\"executor\":\"local\""));
    place.assert_trail_is_whole();
}

#[test]
fn nothing_chooses_it_but_a_configuration_file() {
    let place = Place::new();
    let folder = place.script("echo ran");
    let run = ["run", text(&folder), "scripts/a.sh", "--grant", "--json", "--executor", "local"];
    let error = place.belljar(&run).error(2);
    assert!(error["message"].as_str().unwrap().contains("only where the configuration file says"), "{error}");
    assert!(!place.state().join("belljar.db").exists() || place.actions().is_empty());
    // Without `bwrap` there is no sandbox, and `auto` falls back to nothing.
    let auto = LOCAL.replace("executor = \"local\"\n", "")
        + &format!("[bubblewrap]\nprogram = {:?}\n", text(&place.path("no-bwrap")));
    let error = with_config(&place, &auto, &run[..5]).error(125);
    assert_eq!(error["code"], "SANDBOX_UNAVAILABLE");
    // Where the file names it, the command line can still ask for more.
    let data = with_config(&place, LOCAL, &[&run[..5], &["--executor", "bubblewrap"]].concat()).data(0);
    assert_eq!((&data["executor"], &data["stdout"]), (&json!("bubblewrap"), &json!("ran\n")));
}

#[test]
fn what_is_required_all_the_same_refuses_it() {
    let place = Place::new();
    let folder = place.script("echo ran");
    let strict = format!("{LOCAL}[isolation.require]\nnetwork = \"enforced\"\n");
    let told = with_config(&place, &strict, &["run", text(&folder), "scripts/a.sh", "--grant", "--json"]);
    let error = told.error(125);
    assert_eq!((&error["code"], &error["details"]["control"]), (&json!("SANDBOX_UNAVAILABLE"), &json!("network")));
}

#[test]
fn doctor_says_that_nothing_isolates() {
    let place = Place::new();
    let told = with_config(&place, LOCAL, &["doctor"]);
    assert!(told.code == Some(0) && told.stdout.contains("NOTHING ISOLATES"), "{told:?}");
    let form = with_config(&place, LOCAL, &["doctor", "--json"]).json();
    assert_eq!((&form["data"]["executor"], &form["data"]["healthy"]), (&json!("local"), &json!(true)));
    assert_eq!(form["data"]["report"]["controls"]["network"]["state"], "missing");
    // Asked about it where the configuration wants isolation, doctor tells that it falls short.
    let told = place.belljar(&["doctor", "--executor", "local"]);
    assert!(told.stdout.contains("NOTHING ISOLATES"), "{told:?}");
}

#[test]
fn an_interpreter_may_lie_anywhere_and_must_be_a_program() {
    let place = Place::new();
    let own = place.path("own-sh");
    std::os::unix::fs::symlink("/bin/sh", &own).unwrap();
    let config = LOCAL.replace("sh = \"sh\"", &format!("sh = {:?}", text(&own)));
    let folder = place.script("echo ran");
    let told = with_config(&place, &config, &["run", text(&folder), "scripts/a.sh", "--grant"]);
    assert_eq!((told.code, told.stdout.as_str()), (Some(0), "ran\n"), "{told:?}");
    let missing = LOCAL.replace("sh = \"sh\"", "sh = \"/does/not/exist\"");
    let told = with_config(&place, &missing, &["config", "check"]);
    assert!(told.code == Some(125) && told.stderr.contains("there is no such program"), "{told:?}");
}

#[test]
fn nothing_is_left_of_a_run() {
    let place = Place::new();
    let word = format!("90{}", std::process::id());
    let folder = place.script(&format!("(setsid sleep {word} >/dev/null 2>&1 &)\nsleep 0.2\necho done"));
    let told = with_config(&place, LOCAL, &["run", text(&folder), "scripts/a.sh", "--grant"]);
    assert_eq!((told.code, told.stdout.as_str()), (Some(0), "done\n"), "{told:?}");
    assert_eq!(processes_with(&format!("sleep {word}")), Vec::<String>::new());
}
