//! The official Python client of the protocol.

use serde_json::{Value, json};

use crate::place::{Place, belljar, succeeded, text};
use crate::programs::Programs;

fn flow(mode: &str) -> Value {
    let place = Place::new();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/python/flow.py");
    let mut client = Programs::python().python_program("python");
    client.args([script, mode, text(&belljar()), text(&place.path("state"))]).env("HOME", place.path(""));
    let seen = serde_json::from_str(&succeeded(&client.output().unwrap())).unwrap();
    let verified = place.json(&["audit", "verify"]);
    assert_eq!((&verified["data"]["valid"], &verified["data"]["runs"]), (&json!(true), &json!(1)), "{verified}");
    seen
}

fn expected(protocol: &str) -> Value {
    json!({
        "protocol": protocol,
        "tools": ["recall_context", "recall_cloud_skill", "execute_cloud_skill", "save_cloud_skill"],
        "refused": ["SCRIPT_DENIED", "grant_missing"],
        "executed": ["success", "bubblewrap", "{\"to\":5000}"],
        "last_line": "5000",
        "recent": "success",
        "wrong": ["INVALID_ARGUMENT", "script"],
    })
}

#[test]
fn with_a_handshake() {
    assert_eq!(flow("legacy"), expected("2025-11-25"));
}

#[test]
fn pinned_to_the_stateless_revision() {
    assert_eq!(flow("2026-07-28"), expected("2026-07-28"));
}

#[test]
fn left_to_find_out_which_revision_both_speak() {
    assert_eq!(flow("auto"), expected("2026-07-28"));
}
