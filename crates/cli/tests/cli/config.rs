//! The configuration file: taken as it stands, wrong ones refused with everything that is wrong.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::support::{Place, text};

fn with_config(place: &Place, content: &str, arguments: &[&str]) -> crate::support::Told {
    fs::write(place.path("config.toml"), content).unwrap();
    let path = place.path("config.toml");
    place.belljar(&[&["--config", text(&path)], arguments].concat())
}

#[test]
fn the_built_in_one_is_shown_with_its_origin_and_is_right() {
    let place = Place::new();
    let shown = place.belljar(&["config", "show", "--origin"]);
    assert!(shown.stdout.contains("built-in") && shown.stdout.contains("py = \"python\""), "{shown:?}");
    assert_eq!(place.belljar(&["config", "check"]).code, Some(0));
    // What is shown is a file that says the same.
    let again = with_config(&place, &shown.stdout, &["config", "show"]);
    assert_eq!(again.stdout, place.belljar(&["config", "show"]).stdout);
}

#[test]
fn a_file_that_exists_is_taken_as_it_stands() {
    let place = Place::new();
    let folder = place.script("echo ran");
    let run = ["run", text(&folder), "scripts/a.sh", "--grant", "--json"];
    assert_eq!(with_config(&place, "", &run).error(125)["details"]["reason"], "feature_disabled");
    let most = "[execution]\nenabled = true\nplatform_isolation_acknowledged = true\n";
    assert_eq!(with_config(&place, most, &run).error(125)["details"]["reason"], "stored_scripts_disabled");
    let all = format!("{most}allow_stored_scripts = true\n");
    assert_eq!(with_config(&place, &all, &run).error(125)["details"]["reason"], "interpreter_not_allowed");
    let all = format!("{all}[interpreters]\nsh = \"sh\"\n");
    assert_eq!(with_config(&place, &all, &run).data(0)["stdout"], "ran\n");
}

#[test]
fn everything_that_is_wrong_is_told_at_once() {
    let place = Place::new();
    let wrong = "[execution]\nenabled = true\nmax_output_bytes = 0\n[execution.timeout]\nmax = 0\n[interpreters]\nPY = \"python\"\nsh = \" \"\nbash = \"/does/not/exist\"\nrb = \"/usr/lib\"\n";
    let told = with_config(&place, wrong, &["config", "check"]);
    assert_eq!(told.code, Some(125));
    for part in [
        "platform_isolation_acknowledged",
        "max_output_bytes",
        "timeout.max",
        "interpreters.PY",
        "interpreters.sh",
        "/does/not/exist",
        "/usr/lib",
    ] {
        assert!(told.stderr.contains(part), "{part} is missing in {}", told.stderr);
        let started = with_config(&place, wrong, &["skill", "show", "demo"]);
        assert!(started.code == Some(125) && started.stderr.contains(part), "{part} is missing in {}", started.stderr);
    }
    let unknown = with_config(&place, "[exekution]\n", &["config", "check"]);
    assert!(unknown.code == Some(125) && unknown.stderr.contains("exekution"), "{unknown:?}");
    let missing = place.belljar(&["--config", "/does/not/exist", "config", "check"]);
    assert!(missing.code == Some(125) && missing.stderr.contains("cannot be read"), "{missing:?}");
}

#[test]
fn what_reads_the_record_or_stops_things_works_whatever_the_configuration_says() {
    let place = Place::new();
    place.script("echo ran");
    assert_eq!(place.run(&[]).code, Some(0));
    let no_such_runtime = "[execution]\nenabled = true\n[interpreters]\nsh = \"none\"\nrb = \"/does/not/exist\"\n";
    for wrong in [no_such_runtime, "[[[", "[exekution]\n"] {
        for command in [
            &["pause"][..],
            &["resume"],
            &["exec", "list"],
            &["audit", "list"],
            &["audit", "verify"],
            &["audit", "head"],
            &["audit", "export"],
            &["grant", "list"],
            &["skill", "list"],
        ] {
            let told = with_config(&place, wrong, command);
            assert_eq!(told.code, Some(0), "{wrong} {command:?} {told:?}");
            assert_eq!(told.stderr.contains("member of no team"), wrong != no_such_runtime, "{told:?}");
        }
        let folder = place.path("demo");
        assert_eq!(with_config(&place, wrong, &["run", text(&folder), "scripts/a.sh"]).code, Some(125));
    }
    let told = with_config(&place, no_such_runtime, &["grant", "revoke", "demo"]);
    assert!(told.code == Some(0) && told.stdout.contains("revoked"), "{told:?}");
}

#[test]
fn a_file_that_may_be_there_is_not_passed_over() {
    if crate::support::is_root() {
        return crate::support::skipped("a folder that cannot be searched", "root can search every folder");
    }
    let place = Place::new();
    let folder = place.path(".config/belljar");
    fs::create_dir_all(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o000)).unwrap();
    let told = place.belljar(&["config", "show"]);
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
    assert!(told.code == Some(125) && told.stderr.contains("cannot be told"), "{told:?}");
    assert_eq!(place.belljar(&["config", "show"]).code, Some(0));
}

#[test]
fn a_required_control_that_is_weaker_here_refuses_the_run() {
    let place = Place::new();
    let folder = place.script("echo ran");
    let strict = "[execution]\nenabled = true\nplatform_isolation_acknowledged = true\nallow_stored_scripts = true\n\
                  [interpreters]\nsh = \"sh\"\n[isolation.require]\nlandlock = \"enforced\"\n";
    let told = with_config(&place, strict, &["run", text(&folder), "scripts/a.sh", "--grant", "--json"]);
    let error = told.error(125);
    assert_eq!((&error["code"], &error["details"]["control"]), (&json!("SANDBOX_UNAVAILABLE"), &json!("landlock")));
    assert!(!place.actions().contains(&"script.run".into()));
}

#[test]
fn the_schema_names_every_section() {
    let place = Place::new();
    let schema = place.belljar(&["config", "schema"]).json();
    for section in ["execution", "interpreters", "limits", "runtimes", "isolation", "local", "bubblewrap"] {
        assert!(schema["properties"].get(section).is_some(), "{section}");
    }
}

#[test]
fn completions_and_manual_pages_are_made() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish"] {
        assert!(place.belljar(&["completions", shell]).stdout.contains("belljar"));
    }
    fs::create_dir(place.path("man")).unwrap();
    assert_eq!(place.belljar(&["man", text(&place.path("man"))]).code, Some(0));
    assert!(place.path("man").join("belljar-run.1").exists());
    assert_eq!(place.belljar(&["man", "/does/not/exist"]).code, Some(125));
}
