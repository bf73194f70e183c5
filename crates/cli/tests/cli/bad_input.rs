//! Bad input: each has its own clear error, and nothing is changed.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::support::{Place, text};

fn assert_nothing_is_saved(place: &Place) {
    assert_eq!(place.belljar(&["skill", "list", "--json"]).json()["data"], json!([]));
    assert!(place.actions().is_empty());
}

#[test]
fn a_time_out_is_a_whole_number_and_is_clamped() {
    let place = Place::new();
    let folder = place.script("echo ran");
    for wrong in ["x", "1.5", ""] {
        let told = place.belljar(&["run", text(&folder), "scripts/a.sh", "--grant", "--timeout", wrong]);
        assert_eq!(told.code, Some(2), "{told:?}");
        assert!(told.stderr.contains("whole number of seconds"), "{told:?}");
    }
    assert_nothing_is_saved(&place);
    for (asked, effective) in [("0", 1), ("-1", 1), ("61", 60), ("60", 60), ("2.0", 2)] {
        assert_eq!(place.run(&["--json", "--timeout", asked]).data(0)["timeout_seconds"], effective, "{asked}");
        let told = place.run(&["--timeout", asked]);
        assert_eq!(told.stderr.contains("clamped"), asked.parse() != Ok(effective) && asked != "2.0", "{told:?}");
    }
}

#[test]
fn input_is_one_json_object() {
    let place = Place::new();
    let folder = place.script("cat");
    for (input, what) in [
        ("[1]", "an array"),
        ("1", "a number"),
        ("null", "null"),
        ("\"x\"", "a string"),
        ("{", "not valid JSON"),
        ("", "not valid JSON"),
        ("{} {}", "not valid JSON"),
        (r#"{"a":1,"b":{"c":1,"c":2}}"#, "\"c\" stands twice"),
        ("@/does/not/exist", "cannot be read"),
    ] {
        let arguments = ["run", text(&folder), "scripts/a.sh", "--grant", "--json", "--input", input];
        let error = place.belljar(&arguments).error(2);
        assert_eq!(error["code"], "INVALID_ARGUMENT");
        assert!(error["message"].as_str().unwrap().contains(what), "{input}: {error}");
    }
    assert_nothing_is_saved(&place);
}

#[test]
fn a_wrong_command_line_is_an_envelope_for_whoever_asked_for_json() {
    let place = Place::new();
    for arguments in [&["run", "--json"][..], &["--json", "nonsense"], &["audit", "list", "--after", "x", "--json"]] {
        assert_eq!(place.belljar(arguments).error(2)["code"], "INVALID_ARGUMENT", "{arguments:?}");
    }
    let told = place.belljar(&["run"]);
    assert!(told.code == Some(2) && told.stdout.is_empty() && told.stderr.contains("Usage:"), "{told:?}");
    // What stands after `--` is for the script.
    let told = place.belljar(&["run", "--nonsense", "--", "--json"]);
    assert!(told.code == Some(2) && told.stdout.is_empty(), "{told:?}");
    let told = place.belljar(&["--help", "--json"]);
    assert!(told.code == Some(0) && told.stdout.contains("Usage:"), "{told:?}");
}

#[test]
fn a_validation_that_takes_minutes_refuses_in_time() {
    let place = Place::new();
    // Each text takes the pattern 2^17 steps before its second branch matches.
    let schema = r#"{ properties = { x = { items = { pattern = '^(?:(a|a)+\1(?!c)b|a+)$' } } } }"#;
    let declaration = format!("[scripts.\"scripts/a.sh\"]\nparameters = {schema}\n");
    place.skill(&[("scripts/a.sh", b"echo ran"), ("belljar.toml", declaration.as_bytes())]);
    assert_eq!(place.run(&["--input", r#"{"x":["aaa"]}"#]).stdout, "ran\n");
    let slow = serde_json::json!({ "x": vec!["a".repeat(17); 800] }).to_string();
    let error = place.run(&["--json", "--input", &slow]).error(125);
    assert_eq!(error["details"]["reason"], "arguments_invalid");
}

#[test]
fn a_language_that_is_not_allowed_is_not_offered_for_approval() {
    let place = Place::new();
    let folder = place.skill(&[("scripts/a.rb", b"puts 1")]);
    let run = ["run", text(&folder), "scripts/a.rb"];
    let told = place.belljar(&run);
    assert!(told.code == Some(125) && told.stderr.contains("its language is not allowed"), "{told:?}");
    assert!(!told.stderr.contains("grant add"), "{told:?}");
    let error = place.belljar(&[&run[..], &["--json"]].concat()).error(125);
    assert!(error["details"].get("approve").is_none(), "{error}");
    let error = place.belljar(&[&run[..], &["--json", "--grant"]].concat()).error(125);
    assert_eq!(error["details"]["reason"], "interpreter_not_allowed");
}

#[test]
fn arguments_up_to_sixteen_kibibytes_pass() {
    let place = Place::new();
    place.script("wc -c");
    let of = |length: usize| format!("{{\"p\":\"{}\"}}", "x".repeat(length - 8));
    assert_eq!(place.run(&["--input", &of(16_384)]).stdout.trim(), "16384");
    let error = place.run(&["--json", "--input", &of(16_385)]).error(125);
    assert_eq!(error["details"]["reason"], "arguments_too_large");
}

fn assert_refused(place: &Place, folder: &Path, what: &str) {
    for arguments in [&["skill", "check"][..], &["skill", "add"]] {
        let error = place.belljar(&[arguments, &[text(folder), "--json"]].concat()).error(2);
        assert_eq!(error["code"], "INVALID_ARGUMENT");
        assert!(error["message"].as_str().unwrap().contains(what), "{what} is missing in {error}");
    }
    let run = place.belljar(&["run", text(folder), "scripts/a.sh", "--grant", "--json"]).error(2);
    assert!(run["message"].as_str().unwrap().contains(what), "{what} is missing in {run}");
    assert_nothing_is_saved(place);
}

#[test]
fn folders_that_cannot_be_saved() {
    let place = Place::new();
    let folder = place.script("echo");
    std::os::unix::fs::symlink("/etc/passwd", folder.join("link")).unwrap();
    assert_refused(&place, &folder, "link");
    let folder = place.skill(&[("scripts/a.sh", b"echo"), ("A.txt", b"x"), ("a.txt", b"y")]);
    assert_refused(&place, &folder, "case");
    let folder = place.skill(&[("scripts/a.sh", &vec![b'#'; 256 * 1024 + 1])]);
    assert_refused(&place, &folder, "256 KiB");
    let folder = place.skill(&[("scripts/a.sh", b"echo \xff\n")]);
    assert_refused(&place, &folder, "UTF-8");
    let folder = place.script("echo");
    fs::write(folder.join("SKILL.md"), "---\nname: demo\ndescription: [\n---\n").unwrap();
    assert_refused(&place, &folder, "SKILL.md");
    fs::remove_file(folder.join("SKILL.md")).unwrap();
    assert_refused(&place, &folder, "SKILL.md");
    let folder = place.script("echo");
    (0..511).for_each(|number| fs::write(folder.join(format!("{number}.txt")), "x").unwrap());
    assert_refused(&place, &folder, "512");
    fs::remove_file(folder.join("0.txt")).unwrap();
    assert_eq!(place.belljar(&["skill", "check", text(&folder)]).code, Some(0));
}

#[test]
fn a_path_that_leaves_the_skill_is_no_script() {
    let place = Place::new();
    let folder = place.script("echo");
    for script in ["../demo/scripts/a.sh", "/etc/passwd", "scripts/../scripts/a.sh", "scripts/b.sh"] {
        let error = place.belljar(&["run", text(&folder), script, "--grant", "--json"]).error(125);
        assert_eq!(error["code"], "SCRIPT_NOT_FOUND");
        assert_eq!(error["details"]["candidates"], json!(["scripts/a.sh"]));
    }
    let error = place.belljar(&["run", text(&folder), "SKILL.md", "--grant", "--json"]).error(125);
    assert_eq!(error["code"], "INVALID_COMPONENT_TYPE");
}

#[test]
fn odd_scripts_run_byte_for_byte() {
    let place = Place::new();
    for (content, output) in [
        (&b""[..], ""),
        (b"echo one\r\n", "one\r\n"),
        (b"\xef\xbb\xbf# begins with a mark\necho two\n", "two\n"),
        (b"echo three\n#\0\n", "three\n"),
    ] {
        let folder = place.skill(&[("scripts/a.sh", content)]);
        let told = place.belljar(&["run", text(&folder), "scripts/a.sh", "--grant", "--json"]);
        assert_eq!(told.data(0)["stdout"], output, "{told:?}");
    }
}

#[test]
fn unknown_names_are_refused_with_what_there_is() {
    let place = Place::new();
    place.script("echo");
    place.run(&[]);
    let error = place.belljar(&["run", "dem", "scripts/a.sh", "--json"]).error(125);
    assert_eq!((&error["code"], &error["details"]["candidates"]), (&json!("SKILL_NOT_FOUND"), &json!(["demo"])));
    assert_eq!(place.belljar(&["run", "No Such", "x", "--json"]).error(2)["code"], "INVALID_ARGUMENT");
    assert_eq!(place.belljar(&["run", "demo", "scripts/a.sh", "--executor", "local"]).code, Some(2));
    assert_eq!(place.belljar(&["run", "demo", "scripts/a.sh", "--no-such-flag"]).code, Some(2));
    assert_eq!(
        place.belljar(&["grant", "add", "demo", "scripts/a.sh", "--pin", "12", "--json"]).error(2)["code"],
        "INVALID_ARGUMENT"
    );
    let wrong = "0".repeat(64);
    let error = place.belljar(&["grant", "add", "demo", "scripts/a.sh", "--pin", &wrong, "--json"]).error(125);
    assert_eq!(error["code"], "CONFLICT");
}
