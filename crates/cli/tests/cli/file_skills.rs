//! File skills: folders under a configured root, run as they stand.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Place, Told, text};

/// A place whose configuration has a root with the skill `demo`.
fn place_with_root(script: &str) -> Place {
    let place = Place::new();
    let root = place.path("root");
    write_skill(&place, "demo", "demo", script);
    let config = format!(
        "[execution]\nenabled = true\nplatform_isolation_acknowledged = true\n[interpreters]\nsh = \"sh\"\n\
         [skills]\nroots = [{:?}]\n",
        text(&root)
    );
    fs::write(place.path("config.toml"), config).unwrap();
    place
}

fn write_skill(place: &Place, folder: &str, name: &str, script: &str) {
    let folder = place.path("root").join(folder);
    fs::create_dir_all(folder.join("scripts")).unwrap();
    fs::write(folder.join("SKILL.md"), format!("---\nname: {name}\ndescription: In a folder.\n---\n")).unwrap();
    fs::write(folder.join("scripts/a.sh"), script).unwrap();
}

fn belljar(place: &Place, arguments: &[&str]) -> Told {
    place.belljar(&[&["--config", text(&place.path("config.toml"))], arguments].concat())
}

#[test]
fn a_file_skill_is_listed_shown_approved_and_run_by_its_name() {
    let place = place_with_root("cat /skill/SKILL.md");
    let listed = belljar(&place, &["skill", "list", "--json"]).json();
    let folder = place.path("root/demo");
    assert_eq!((&listed["data"][0]["source"], &listed["data"][0]["folder"]), (&json!("file"), &json!(text(&folder))));
    let refused = belljar(&place, &["run", "demo", "scripts/a.sh"]);
    assert_eq!(refused.code, Some(125));
    let shown = belljar(&place, &["skill", "show", "demo", "--json"]).json();
    let pin = shown["data"]["scripts"]["scripts/a.sh"]["pin"].as_str().unwrap().to_owned();
    assert_eq!((&shown["data"]["source"], &shown["data"]["revision"]), (&json!("file"), &Value::Null));
    let line = format!("belljar grant add demo scripts/a.sh --pin {pin}\n");
    assert!(refused.stderr.contains(&line), "{refused:?} has no {line}");
    assert_eq!(belljar(&place, &["grant", "add", "demo", "scripts/a.sh", "--pin", &pin]).code, Some(0));
    let data = belljar(&place, &["run", "demo", "scripts/a.sh", "--json"]).data(0);
    assert!(data["stdout"].as_str().unwrap().contains("In a folder."), "{data}");
    assert!(data.get("skill_id").is_none() && data.get("revision_id").is_none(), "{data}");
    let granted = belljar(&place, &["grant", "list", "--json"]).json();
    assert_eq!(granted["data"][0]["slug"], "demo");
    let record = belljar(&place, &["exec", "show", data["execution_id"].as_str().unwrap()]);
    assert!(record.stdout.contains("a file skill"), "{record:?}");
    place.assert_trail_is_whole();
}

#[test]
fn by_default_a_changed_file_closes_the_gate() {
    let place = place_with_root("echo one");
    assert_eq!(belljar(&place, &["run", "demo", "scripts/a.sh", "--grant"]).stdout, "one\n");
    fs::write(place.path("root/demo/scripts/a.sh"), "echo two").unwrap();
    let error = belljar(&place, &["run", "demo", "scripts/a.sh", "--json"]).error(125);
    assert_eq!(error["details"]["reason"], "content_changed");
    let config = fs::read_to_string(place.path("config.toml")).unwrap() + "pin_file_scripts = false\n";
    fs::write(place.path("config.toml"), config).unwrap();
    assert_eq!(belljar(&place, &["run", "demo", "scripts/a.sh"]).stdout, "two\n");
    assert_eq!(belljar(&place, &["grant", "revoke", "demo"]).code, Some(0));
    assert_eq!(belljar(&place, &["run", "demo", "scripts/a.sh"]).code, Some(125));
}

#[test]
fn the_configuration_check_tells_what_is_hidden_or_unusable() {
    let place = place_with_root("echo root");
    write_skill(&place, "misnamed", "another", "echo");
    place.script("echo stored");
    let config = fs::read_to_string(place.path("config.toml")).unwrap();
    fs::write(
        place.path("config.toml"),
        config.replace("enabled = true\n", "enabled = true\nallow_stored_scripts = true\n"),
    )
    .unwrap();
    let checked = belljar(&place, &["config", "check", "--json"]);
    assert_eq!((checked.code, checked.json()["data"]["notes"].as_array().unwrap().len()), (Some(0), 1), "{checked:?}");
    assert_eq!(belljar(&place, &["skill", "add", text(&place.path("demo"))]).code, Some(0));
    let checked = belljar(&place, &["config", "check"]);
    for part in ["root/demo: the stored skill demo is used instead", "root/misnamed: the skill is named `another`"] {
        assert!(checked.code == Some(0) && checked.stderr.contains(part), "{part} is missing in {checked:?}");
    }
    assert_eq!(belljar(&place, &["run", "demo", "scripts/a.sh", "--grant"]).stdout, "stored\n");
}

#[test]
fn a_root_that_is_not_there_is_a_fault() {
    let place = place_with_root("echo");
    fs::remove_dir_all(place.path("root")).unwrap();
    let checked = belljar(&place, &["config", "check"]);
    assert!(checked.code == Some(125) && checked.stderr.contains("skills.roots"), "{checked:?}");
    let told = belljar(&place, &["run", "demo", "scripts/a.sh"]);
    assert!(told.code == Some(125) && told.stderr.contains("skills.roots"), "{told:?}");
    assert_eq!(belljar(&place, &["pause"]).code, Some(0));
}
