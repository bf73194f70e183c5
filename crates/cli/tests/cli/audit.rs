//! The trail: verified, exported, and caught when somebody touched it.

use std::fs;

use crate::support::{Place, program, text};

fn with_runs(count: usize) -> Place {
    let place = Place::new();
    place.script("echo ran");
    (0..count).for_each(|_| assert_eq!(place.run(&[]).code, Some(0)));
    place
}

/// Changes the database behind the program's back.
fn tamper(place: &Place, statements: &str) {
    let script = format!(
        "import sqlite3\nc = sqlite3.connect({:?})\nc.executescript({statements:?})\nc.commit()\n",
        text(&place.state().join("belljar.db"))
    );
    assert!(program("python3").args(["-c", &script]).status().unwrap().success());
}

const UNLOCK: &str = "select 1;";

/// The triggers that keep the trail append-only, by name, so that a test can play somebody who removes them.
fn without_triggers(place: &Place) -> String {
    let script = format!(
        "import sqlite3\nfor (n,) in sqlite3.connect({:?}).execute(\"select name from sqlite_master where type='trigger'\"): print(n)",
        text(&place.state().join("belljar.db"))
    );
    let output = program("python3").args(["-c", &script]).output().unwrap();
    String::from_utf8(output.stdout).unwrap().lines().map(|name| format!("drop trigger {name};")).collect::<String>()
        + UNLOCK
}

fn verdict(place: &Place, more: &[&str]) -> String {
    let told = place.belljar(&[&["audit", "verify", "--json"], more].concat());
    let fault = told.json()["data"]["fault"].clone();
    assert_eq!(told.code == Some(0), fault.is_null(), "{told:?}");
    fault["kind"].as_str().unwrap_or("valid").to_owned()
}

#[test]
fn an_entry_cannot_be_changed_through_the_database_alone() {
    let place = with_runs(1);
    let script = format!(
        "import sqlite3\nc = sqlite3.connect({:?})\nc.execute(\"update audit set actor='x'\")",
        text(&place.state().join("belljar.db"))
    );
    let output = program("python3").args(["-c", &script]).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("append-only"));
    assert_eq!(verdict(&place, &[]), "valid");
}

#[test]
fn what_was_done_to_the_trail_is_named() {
    for (statement, kind) in [
        ("update audit set actor = 'mallory' where sequence = 3;", "broken"),
        ("delete from audit where sequence = 3;", "gap"),
        ("delete from audit where sequence > 4;", "cut"),
    ] {
        let place = with_runs(2);
        assert_eq!(verdict(&place, &[]), "valid");
        let drop_triggers = without_triggers(&place);
        tamper(&place, &format!("{drop_triggers} {statement}"));
        assert_eq!(verdict(&place, &[]), kind, "{statement}");
        let told = place.belljar(&["audit", "verify"]);
        assert!(told.stdout.contains("CHAIN BROKEN") && told.stderr.contains(kind), "{told:?}");
    }
}

#[test]
fn a_head_that_was_kept_finds_a_cut_even_when_the_copy_is_cut_too() {
    let place = with_runs(2);
    let head = place.belljar(&["audit", "head"]).stdout.trim().to_owned();
    assert_eq!(verdict(&place, &["--expect", &head]), "valid");
    let drop_triggers = without_triggers(&place);
    tamper(&place, &format!("{drop_triggers} delete from audit where sequence > 4;"));
    for entry in fs::read_dir(place.state()).unwrap().filter_map(Result::ok) {
        if entry.file_name().to_string_lossy().starts_with("audit-heads") {
            fs::remove_file(entry.path()).unwrap();
        }
    }
    assert_eq!(verdict(&place, &["--expect", &head]), "cut");
    assert_eq!(place.belljar(&["audit", "verify", "--expect", "x", "--json"]).error(2)["code"], "INVALID_ARGUMENT");
}

#[test]
fn every_exported_line_can_be_checked_elsewhere() {
    let place = with_runs(2);
    let exported = place.belljar(&["audit", "export"]).stdout;
    // The rule as it is documented, in another language.
    let check = r#"
import hashlib, json, sys
previous = "0" * 64
for number, line in enumerate(sys.stdin, 1):
    e = json.loads(line)
    keys = ("action", "actor", "after", "before", "created_at", "entity", "id", "previous_hash", "sequence", "tenant")
    canonical = json.dumps({k: e[k] for k in keys}, separators=(",", ":"), ensure_ascii=False)
    assert e["sequence"] == number and e["previous_hash"] == previous, number
    assert hashlib.sha256(canonical.encode()).hexdigest() == e["hash"], number
    previous = e["hash"]
print(number)
"#;
    let told = crate::support::told_with_input(program("python3").args(["-c", check]), exported.as_bytes());
    assert_eq!((told.code, told.stdout.trim()), (Some(0), "6"), "{told:?}");
}
