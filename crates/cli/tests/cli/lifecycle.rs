//! A skill's life: saved, published, archived, purged; each step on the record.

use serde_json::json;

use crate::support::{Place, text};

fn add(place: &Place, more: &[&str]) -> crate::support::Told {
    let folder = place.path("demo");
    place.belljar(&[&["skill", "add", text(&folder), "--json"], more].concat())
}

#[test]
fn the_published_revision_runs_until_another_one_is_published() {
    let place = Place::new();
    place.script("echo one");
    let first = add(&place, &["--publish"]).json()["data"].clone();
    assert_eq!(first["published"], true);
    place.script("echo two");
    let second = add(&place, &[]).json()["data"].clone();
    assert_eq!((&second["revision"], &second["published"]), (&json!(2), &json!(false)));
    let run = || place.belljar(&["run", "demo", "scripts/a.sh", "--grant"]).stdout;
    assert_eq!(run(), "one\n");
    assert_eq!(place.belljar(&["skill", "publish", "demo"]).code, Some(0));
    assert_eq!(run(), "two\n");
    let told = place.belljar(&["skill", "publish", "demo"]);
    assert!(told.code == Some(0) && told.stdout.contains("was so already"), "{told:?}");
    let back = ["skill", "publish", "demo", first["revision_id"].as_str().unwrap()];
    assert_eq!(place.belljar(&back).code, Some(0));
    assert_eq!(run(), "one\n");
    assert_eq!(place.belljar(&["skill", "publish", "demo", "none", "--json"]).error(125)["code"], "REVISION_NOT_FOUND");
    let actions = place.actions();
    assert_eq!(actions.iter().filter(|action| *action == "skill.publish").count(), 2);
    place.assert_trail_is_whole();
}

#[test]
fn an_archived_skill_does_not_run_and_takes_no_revision() {
    let place = Place::new();
    let folder = place.script("echo ran");
    place.run(&[]);
    assert_eq!(place.belljar(&["skill", "archive", "demo"]).code, Some(0));
    assert_eq!(place.belljar(&["run", "demo", "scripts/a.sh", "--json"]).error(125)["code"], "SKILL_ARCHIVED");
    assert!(place.belljar(&["skill", "list"]).stdout.contains("archived"));
    place.script("echo changed");
    assert_eq!(add(&place, &[]).error(125)["code"], "SKILL_ARCHIVED");
    let run = ["run", text(&folder), "scripts/a.sh", "--grant", "--json"];
    assert_eq!(place.belljar(&run).error(125)["code"], "SKILL_ARCHIVED");
    assert_eq!(place.belljar(&["skill", "publish", "demo", "--json"]).error(125)["code"], "SKILL_ARCHIVED");
    assert_eq!(place.belljar(&["skill", "unarchive", "demo"]).code, Some(0));
    assert_eq!(place.belljar(&["run", "demo", "scripts/a.sh"]).stdout, "ran\n");
    place.assert_trail_is_whole();
}

#[test]
fn who_expects_another_state_gets_a_conflict() {
    let place = Place::new();
    place.script("echo one");
    let first = add(&place, &["--new"]).json()["data"]["revision_id"].as_str().unwrap().to_owned();
    place.script("echo two");
    assert_eq!(add(&place, &["--new"]).error(125)["code"], "CONFLICT");
    assert_eq!(add(&place, &["--expect", &first]).code, Some(0));
    place.script("echo three");
    assert_eq!(add(&place, &["--expect", &first]).error(125)["code"], "CONFLICT");
    let shown = place.belljar(&["skill", "show", "demo", "--json"]).json();
    assert_eq!(shown["data"]["revisions"].as_array().unwrap().len(), 2);
    assert_eq!(add(&place, &["--team", "red"]).error(125)["code"], "ACCESS_DENIED");
    assert_eq!(add(&place, &["--new", "--expect", &first]).error(2)["code"], "INVALID_ARGUMENT");
}

#[test]
fn purging_wants_a_yes_and_keeps_the_record() {
    let place = Place::new();
    place.script("echo ran");
    let id = place.run(&["--json"]).data(0)["execution_id"].as_str().unwrap().to_owned();
    assert_eq!(place.belljar(&["skill", "purge", "demo", "--json"]).error(2)["code"], "INVALID_ARGUMENT");
    assert_eq!(place.belljar(&["skill", "show", "demo"]).code, Some(0));
    assert_eq!(place.belljar(&["skill", "purge", "demo", "--yes"]).code, Some(0));
    assert_eq!(place.belljar(&["skill", "show", "demo", "--json"]).error(125)["code"], "SKILL_NOT_FOUND");
    assert_eq!(place.belljar(&["skill", "purge", "demo", "--yes", "--json"]).error(125)["code"], "SKILL_NOT_FOUND");
    assert!(place.belljar(&["exec", "show", &id]).stdout.contains("ran"));
    // What comes under the same name later is another skill: the old grant opens nothing.
    place.script("echo ran");
    assert_eq!(add(&place, &[]).code, Some(0));
    let error = place.belljar(&["run", "demo", "scripts/a.sh", "--json"]).error(125);
    assert_eq!(error["details"]["reason"], "grant_missing");
    assert!(place.actions().contains(&"skill.purge".into()));
    place.assert_trail_is_whole();
}
