//! Approving what changed since a pin that was approved before.

use serde_json::{Value, json};

use crate::support::{Place, Told, json, text};
use crate::terminal::at_a_terminal;

/// Saves the demo folder and gives the pin of its script, and of all.
fn saved(place: &Place, files: &[(&str, &[u8])]) -> (String, String) {
    let folder = place.skill(files);
    assert_eq!(place.belljar(&["skill", "add", text(&folder)]).code, Some(0));
    let shown = place.belljar(&["skill", "show", "demo", "--json"]).json();
    let pin = |value: &Value| value.as_str().unwrap().to_owned();
    (pin(&shown["data"]["scripts"]["scripts/a.sh"]["pin"]), pin(&shown["data"]["all_scripts_pin"]))
}

fn grant(place: &Place, arguments: &[&str]) -> Told {
    place.belljar(&[&["grant", "add", "demo", "scripts/a.sh"], arguments].concat())
}

const ONE: &[(&str, &[u8])] =
    &[("scripts/a.sh", b"echo one\n"), ("data.bin", b"\xff\x00"), ("gone.txt", b"x"), ("same.txt", b"s")];
const TWO: &[(&str, &[u8])] = &[
    ("scripts/a.sh", b"echo two\n"),
    ("data.bin", b"\xff\x00\x01"),
    ("new.txt", b"\x1b[31mred\n"),
    ("same.txt", b"s"),
];

fn runs(place: &Place) -> Option<i32> {
    place.belljar(&["run", "demo", "scripts/a.sh"]).code
}

#[test]
fn what_changed_is_shown_and_the_line_that_approves_it_approves_it() {
    let place = Place::new();
    let (old, _) = saved(&place, ONE);
    assert_eq!(grant(&place, &["--pin", &old]).code, Some(0));
    let (new, _) = saved(&place, TWO);
    let told = grant(&place, &["--from", &old]);
    assert_eq!(told.code, Some(125), "{told:?}");
    for part in [
        "revision 1 at pin",
        "revision 2 now",
        "granted by ",
        "changed scripts/a.sh",
        "-echo one",
        "+echo two",
        "changed data.bin",
        "not text",
        "removed gone.txt",
        "added new.txt",
        &format!("pin now {new}"),
    ] {
        assert!(told.stdout.contains(part), "{part} is missing: {told:?}");
    }
    assert!(!told.stdout.contains("same.txt") && !told.stdout.contains('\u{1b}'), "{told:?}");
    assert_eq!(runs(&place), Some(125), "nothing was granted");
    let line = told.stderr.lines().find_map(|line| line.split_once("belljar grant add ")).unwrap().1;
    let words: Vec<_> = line.split(' ').collect();
    assert_eq!(place.belljar(&[&["grant", "add"], &words[..]].concat()).code, Some(0));
    assert_eq!(runs(&place), Some(0));
    // The old pin is still one to compare with, also once it is revoked.
    assert_eq!(place.belljar(&["grant", "revoke", "demo"]).code, Some(0));
    let told = grant(&place, &["--from", &old, "--pin", &new]);
    assert!(told.code == Some(0) && told.stdout.contains("+echo two") && told.stdout.contains("granted"), "{told:?}");
    assert_eq!(runs(&place), Some(0));
    place.assert_trail_is_whole();
}

#[test]
fn a_pin_that_is_not_the_current_one_grants_nothing_and_is_not_told_the_current_one() {
    let place = Place::new();
    let (old, _) = saved(&place, ONE);
    let (new, _) = saved(&place, TWO);
    for more in [&["--from", &old, "--pin", &old][..], &["--from", &new, "--pin", &old]] {
        let told = grant(&place, more);
        assert!(told.code == Some(125) && told.stderr.contains("CONFLICT"), "{told:?}");
        let seen = if more[1] == new { 1 } else { 0 };
        assert_eq!(format!("{}{}", told.stdout, told.stderr).matches(&new).count(), seen, "{told:?}");
        let told = grant(&place, &[more, &["--json"]].concat());
        assert_eq!(told.error(125)["code"], "CONFLICT");
    }
    assert_eq!(place.belljar(&["grant", "list", "--json"]).json()["data"], json!([]));
}

#[test]
fn programs_get_the_changes_and_the_grant() {
    let place = Place::new();
    let (old, _) = saved(&place, ONE);
    let (new, _) = saved(&place, TWO);
    let told = grant(&place, &["--from", &old, "--json"]);
    assert_eq!(told.code, Some(125));
    let review = told.json();
    assert_eq!(review["kind"], "grant_review");
    let files = json!([
        { "path": "data.bin", "change": "changed" },
        { "path": "gone.txt", "change": "removed" },
        { "path": "new.txt", "change": "added" },
        { "path": "scripts/a.sh", "change": "changed" },
    ]);
    assert_eq!((&review["data"]["files"], &review["data"]["to"]["pin"]), (&files, &json!(new)));
    assert!(review["data"]["approve"].as_str().unwrap().contains(&new));
    let granted = json(&grant(&place, &["--from", &old, "--pin", &new, "--json"]).stdout);
    assert_eq!((&granted["kind"], &granted["data"]["pin"]), (&json!("grant"), &json!(new)));
    assert_eq!(granted["data"]["review"]["files"], files);
}

#[test]
fn what_is_declared_and_what_did_not_change_are_told_too() {
    let place = Place::new();
    let script: (&str, &[u8]) = ("scripts/a.sh", b"echo one\n");
    let declared: (&str, &[u8]) = ("belljar.toml", b"[scripts.\"scripts/a.sh\"]\ncwd = \"skill\"\n");
    let (old, all) = saved(&place, &[script]);
    let same = grant(&place, &["--from", &old]);
    assert!(same.code == Some(125) && same.stdout.contains("no file changed"), "{same:?}");
    saved(&place, &[script, declared]);
    for (target, pin) in [("scripts/a.sh", &old), ("*", &all)] {
        let told = place.belljar(&["grant", "add", "demo", target, "--from", pin]);
        assert!(told.stdout.contains("added belljar.toml"), "{told:?}");
        assert!(told.stdout.contains("declared scripts/a.sh") && told.stdout.contains("\"cwd\""), "{told:?}");
    }
    let quoted = place.belljar(&["grant", "add", "demo", "*", "--from", &all]);
    assert!(quoted.stderr.contains("grant add demo '*' --pin"), "{quoted:?}");
}

#[test]
fn a_pin_of_another_configuration_is_found_on_the_record() {
    let place = Place::new();
    let (old, _) = saved(&place, ONE);
    assert_eq!(grant(&place, &["--pin", &old]).code, Some(0));
    let file = place.path("config.toml");
    let base = place.belljar(&["config", "show"]).stdout;
    std::fs::write(&file, base.replace("sh = \"sh\"", "sh = \"bash\"")).unwrap();
    let told = grant(&place, &["--from", &old, "--config", text(&file)]);
    assert!(told.code == Some(125) && told.stdout.contains("no file changed"), "{told:?}");
    assert!(told.stdout.contains("interpreter") && !told.stdout.contains(&format!("pin now {old}")), "{told:?}");
}

#[test]
fn what_cannot_be_compared_is_refused_with_its_reason() {
    let place = Place::new();
    let (old, all) = saved(&place, ONE);
    let other = "0".repeat(64);
    for (arguments, exit, code) in [
        (vec!["demo", "scripts/a.sh", "--from", &other], 125, "NOT_FOUND"),
        // The pin of all scripts is none of this one's.
        (vec!["demo", "scripts/a.sh", "--from", &all], 125, "NOT_FOUND"),
        (vec!["demo", "scripts/a.sh", "--from", "short"], 2, "INVALID_ARGUMENT"),
        (vec!["demo", "scripts/none.sh", "--from", &old], 125, "SCRIPT_NOT_FOUND"),
        (vec!["nothing", "scripts/a.sh", "--from", &old], 125, "SKILL_NOT_FOUND"),
        (vec!["demo", "scripts/a.sh", "--from", &old, "--revision", "none"], 125, "REVISION_NOT_FOUND"),
        (vec!["demo", "--from", &old], 2, "INVALID_ARGUMENT"),
    ] {
        let told = place.belljar(&[&["grant", "add"], &arguments[..], &["--json"]].concat());
        assert_eq!(told.error(exit)["code"], code, "{arguments:?}");
    }
    let told = place.belljar(&["grant", "add", "--pending", "p-1", "--from", &old]);
    assert_eq!(told.code, Some(2));
}

#[test]
fn a_person_at_a_terminal_is_asked_and_gets_what_was_shown() {
    let place = Place::new();
    let (old, _) = saved(&place, ONE);
    saved(&place, TWO);
    let add = ["grant", "add", "demo", "scripts/a.sh", "--from", &old];
    let told = at_a_terminal(&place, "maybe,n", &add);
    assert!(told.code == Some(125) && told.stdout.contains("+echo two"), "{told:?}");
    assert_eq!(runs(&place), Some(125));
    let told = at_a_terminal(&place, "y", &add);
    assert!(told.code == Some(0) && told.stdout.contains("granted"), "{told:?}");
    assert_eq!(runs(&place), Some(0));
}
