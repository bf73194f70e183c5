//! What was refused becomes one line for a person to approve.

use serde_json::{Value, json};

use crate::support::{Place, text};

fn pending(place: &Place) -> Vec<Value> {
    place.belljar(&["grant", "list", "--pending", "--json"]).json()["data"].as_array().unwrap().clone()
}

#[test]
fn what_was_refused_is_listed_once_counted_and_approved_by_its_id() {
    let place = Place::new();
    let folder = place.script("echo ran");
    let run = ["run", text(&folder), "scripts/a.sh", "--json"];
    for _ in 0..3 {
        assert_eq!(place.belljar(&run).error(125)["details"]["reason"], "grant_missing");
    }
    let waiting = pending(&place);
    assert_eq!((waiting.len(), &waiting[0]["asked"], &waiting[0]["slug"]), (1, &json!(3), &json!("demo")));
    let listed = place.belljar(&["grant", "list", "--pending"]);
    assert!(listed.stdout.contains("grant_missing") && listed.stderr.contains("grant add --pending"), "{listed:?}");
    let id = waiting[0]["id"].as_str().unwrap();
    assert_eq!(place.belljar(&["grant", "add", "--pending", id]).code, Some(0));
    assert_eq!(place.belljar(&run).data(0)["stdout"], "ran\n");
    assert_eq!(pending(&place), Vec::<Value>::new());
    assert_eq!(place.belljar(&["grant", "add", "--pending", id, "--json"]).error(125)["code"], "NOT_FOUND");
    place.assert_trail_is_whole();
}

#[test]
fn a_change_waits_anew_and_the_grant_is_for_exactly_what_was_refused() {
    let place = Place::new();
    let folder = place.script("echo one");
    let run = ["run", text(&folder), "scripts/a.sh", "--json"];
    place.belljar(&[&run[..], &["--grant"]].concat()).data(0);
    place.script("echo two");
    assert_eq!(place.belljar(&run).error(125)["details"]["reason"], "content_changed");
    let waiting = pending(&place);
    assert_eq!((waiting.len(), &waiting[0]["reason"]), (1, &json!("content_changed")));
    // A later revision does not slip under the approval of the one that was refused.
    place.script("echo three");
    assert_eq!(place.belljar(&["skill", "add", text(&folder)]).code, Some(0));
    let id = waiting[0]["id"].as_str().unwrap();
    assert_eq!(place.belljar(&["grant", "add", "--pending", id]).code, Some(0));
    assert_eq!(place.belljar(&run).error(125)["details"]["reason"], "content_changed");
    place.script("echo two");
    assert_eq!(place.belljar(&run).data(0)["stdout"], "two\n");
}

#[test]
fn what_no_grant_would_help_does_not_wait() {
    let place = Place::new();
    let folder = place.skill(&[("scripts/a.rb", b"puts 1"), ("scripts/a.sh", b"echo")]);
    assert_eq!(place.belljar(&["run", text(&folder), "scripts/a.rb"]).code, Some(125));
    assert_eq!(place.belljar(&["pause"]).code, Some(0));
    assert_eq!(place.belljar(&["run", text(&folder), "scripts/a.sh"]).code, Some(125));
    assert_eq!(pending(&place), Vec::<Value>::new());
    assert_eq!(place.belljar(&["grant", "add", "--json"]).error(2)["code"], "INVALID_ARGUMENT");
    assert_eq!(
        place.belljar(&["grant", "add", "demo", "--pending", "p-1", "--json"]).error(2)["code"],
        "INVALID_ARGUMENT"
    );
}
