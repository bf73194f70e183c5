//! `belljar run`: approval, input, output, exit codes.

use std::process::Stdio;

use serde_json::json;

use crate::support::{Place, text, told_with_input, wait};

#[test]
fn an_approved_script_sees_exactly_its_input_and_is_on_the_record() {
    let place = Place::new();
    place.script("cat; printf '|%s' \"$@\"");
    let input = "{\"environment\":\"staging\"}";
    let data = place.run(&["--json", "--input", input, "--arg", "-x", "--", "--top", "3"]).data(0);
    assert_eq!(data["status"], "success");
    assert_eq!(data["stdout"], format!("{input}|-x|--top|3"));
    assert_eq!((&data["exit_code"], &data["executor"]), (&json!(0), &json!("bubblewrap")));
    assert!(data["memory_peak_bytes"].as_u64().unwrap() > 0 && data["usage_source"] == "rusage");
    assert_eq!(data["isolation"]["controls"]["network"]["state"], "enforced");
    assert!(data["receipt"]["sequence"].as_u64().unwrap() > 0 && data["recorded"] == true);
    assert!(data.get("signal").is_none() && data.get("output_data").is_none(), "an unknown field is absent");
    assert_eq!(place.actions(), ["skill.save", "script.grant", "script.run", "script.outcome"]);
    place.assert_trail_is_whole();
}

#[test]
fn once_approved_it_runs_again_until_one_byte_changes() {
    let place = Place::new();
    let folder = place.skill(&[("scripts/a.sh", b"cat /skill/data.txt"), ("data.txt", b"x")]);
    let run = ["run", text(&folder), "scripts/a.sh", "--json"];
    assert_eq!(place.run(&["--json"]).data(0)["stdout"], "x");
    assert_eq!(place.belljar(&run).data(0)["status"], "success");
    for (script, sibling) in [("cat /skill/data.txt\n", "x"), ("cat /skill/data.txt", "y")] {
        let folder = place.skill(&[("scripts/a.sh", script.as_bytes()), ("data.txt", sibling.as_bytes())]);
        let error = place.belljar(&["run", text(&folder), "scripts/a.sh", "--json"]).error(125);
        assert_eq!((&error["code"], &error["details"]["reason"]), (&json!("SCRIPT_DENIED"), &json!("content_changed")));
        assert_eq!(error["details"]["changed_files"].as_array().unwrap().len(), 1);
    }
    place.assert_trail_is_whole();
}

#[test]
fn without_a_terminal_it_prints_the_line_that_approves() {
    let place = Place::new();
    let folder = place.script("echo ran");
    let refused = place.belljar(&["run", text(&folder), "scripts/a.sh"]);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(125), ""));
    assert!(refused.stderr.contains("grant_missing"), "{refused:?}");
    let line = refused.stderr.lines().find_map(|line| line.split_once("belljar grant add ")).unwrap().1;
    let mut arguments = vec!["grant", "add"];
    arguments.extend(line.split_whitespace());
    assert_eq!(place.belljar(&arguments).code, Some(0));
    let ran = place.belljar(&["run", "demo", "scripts/a.sh"]);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(0), "ran\n", ""));
}

#[test]
fn exit_codes() {
    let place = Place::new();
    for (script, more, code, status, kind) in [
        ("exit 0", &[][..], 0, "success", None),
        ("exit 7", &[], 7, "failed", Some("SCRIPT_EXECUTION_ERROR")),
        ("exit 137", &[], 137, "failed", Some("SCRIPT_EXECUTION_ERROR")),
        ("kill -SEGV $$", &[], 139, "failed", Some("SCRIPT_EXECUTION_ERROR")),
        ("sleep 30", &["--timeout", "1"], 124, "timeout", Some("EXECUTION_TIMEOUT")),
    ] {
        place.script(script);
        let told = place.run(&[more, &["--json"]].concat());
        let data = told.data(code);
        assert_eq!(
            (&data["status"], data.get("error_kind")),
            (&json!(status), kind.map(|kind| json!(kind)).as_ref()),
            "{script}"
        );
        let expected = if status == "timeout" { json!(null) } else { json!(code) };
        assert_eq!(data["exit_code"], expected, "{script}");
    }
    let data = place.belljar(&["exec", "list", "--json"]).json();
    assert_eq!(data["data"].as_array().unwrap().len(), 5);
    place.assert_trail_is_whole();
}

#[test]
fn a_memory_limit_that_is_hit_is_named() {
    let place = Place::new();
    let hog = b"held = []\nwhile True:\n    held.append(bytearray(b'x' * (32 << 20)))\n";
    let folder = place.skill(&[("scripts/hog.py", hog)]);
    let told = place.belljar(&["run", text(&folder), "scripts/hog.py", "--grant"]);
    // Private data is bounded by an rlimit, which Python reports as a MemoryError of its own; a run that
    // is ended from outside has the limit named.
    assert!(matches!(told.code, Some(137 | 1)), "{told:?}");
    assert!(told.stderr.contains("limit hit: memory") || told.stderr.contains("MemoryError"), "{told:?}");
}

/// A folder in the current directory does not take the place of the skill that was approved under its name.
#[test]
fn a_word_is_a_skills_name_before_it_is_a_folders() {
    let place = Place::new();
    place.script("echo approved");
    place.run(&[]);
    place.script("echo something else");
    let here = |arguments: &[&str]| {
        let mut command = place.command(arguments);
        crate::support::told(command.stdin(Stdio::null()).current_dir(place.path("")))
    };
    let told = here(&["run", "demo", "scripts/a.sh"]);
    assert!(told.stdout == "approved\n" && told.stderr.contains("the folder here is ./demo"), "{told:?}");
    assert_eq!(here(&["run", "./demo", "scripts/a.sh", "--json"]).error(125)["details"]["reason"], "content_changed");
    // Where no skill has the name, it is the folder's.
    std::fs::rename(place.path("demo"), place.path("other")).unwrap();
    let index = std::fs::read_to_string(place.path("other/SKILL.md")).unwrap().replace("demo", "other");
    std::fs::write(place.path("other/SKILL.md"), index).unwrap();
    assert_eq!(here(&["run", "other", "scripts/a.sh", "--grant"]).stdout, "something else\n");
}

#[test]
fn input_comes_from_a_file_or_from_standard_input_and_only_when_asked() {
    let place = Place::new();
    let folder = place.script("cat");
    let input = "{\"a\": 12345678901234567890123,\r\n \"b\": \"é\\u0000\"}\n";
    std::fs::write(place.path("input.json"), input).unwrap();
    let named = format!("@{}", text(&place.path("input.json")));
    assert_eq!(place.run(&["--input", &named]).stdout, input);
    let arguments = ["run", text(&folder), "scripts/a.sh", "--input", "-"];
    assert_eq!(told_with_input(&mut place.command(&arguments), input.as_bytes()).stdout, input);
    let told = told_with_input(&mut place.command(&arguments[..3]), b"not for the script");
    assert_eq!((told.code, told.stdout.as_str()), (Some(0), ""));
}

#[test]
fn streams_pass_through_and_a_cut_is_noticed_on_standard_error() {
    let place = Place::new();
    place.script("head -c 300000 /dev/zero | tr '\\0' x; echo problem >&2; exit 3");
    let told = place.run(&[]);
    assert_eq!((told.code, told.stdout.len()), (Some(3), 262_144));
    assert!(
        told.stderr.starts_with("problem\n") && told.stderr.contains("stdout was cut after 262144 bytes"),
        "{}",
        told.stderr
    );
    let data = place.run(&["--json"]).data(3);
    assert_eq!((&data["stdout_truncated"], &data["stderr_truncated"]), (&json!(true), &json!(false)));
}

#[test]
fn a_reader_that_goes_away_is_not_a_fault() {
    let place = Place::new();
    let folder = place.script("yes | head -c 200000");
    place.run(&[]);
    let mut command = place.command(&["run", text(&folder), "scripts/a.sh"]);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let told = wait(child);
    assert_eq!((told.code, told.stderr.as_str()), (Some(0), ""));
}

#[test]
fn json_output_of_the_script_becomes_data() {
    let place = Place::new();
    place.script(r#"echo '{"n": 9007199254740993, "ok": true}'"#);
    let told = place.run(&["--json"]);
    assert!(told.stdout.contains("\"output_data\":{\"n\":9007199254740993,\"ok\":true}"), "{}", told.stdout);
}

#[test]
fn explain_shows_and_does_not_run() {
    let place = Place::new();
    let folder = place.script("echo ran");
    let explained = place.belljar(&["run", text(&folder), "scripts/a.sh", "--explain", "--", "x"]);
    assert_eq!(explained.code, Some(0), "{explained:?}");
    for part in [
        "closed: grant_missing",
        "/skill/scripts/a.sh x",
        "/workspace",
        "TRACON_SKILL_TEMP=/tmp",
        "memory_bytes 536870912",
    ] {
        assert!(explained.stdout.contains(part), "{part} is missing in {}", explained.stdout);
    }
    let data = place.belljar(&["run", text(&folder), "scripts/a.sh", "--explain", "--json"]).json();
    assert_eq!((&data["kind"], &data["data"]["closed_gate"]), (&json!("explanation"), &json!("grant_missing")));
    assert_eq!(place.actions(), ["skill.save"]);
}

#[test]
fn a_published_skill_is_not_needed_and_an_equal_revision_is_used_again() {
    let place = Place::new();
    place.script("echo 1");
    place.run(&[]);
    place.script("echo 2");
    place.run(&[]);
    place.script("echo 1");
    let data = place.run(&["--json"]).data(0);
    assert_eq!(data["stdout"], "1\n");
    let shown = place.belljar(&["skill", "show", "demo", "--json"]).json();
    assert_eq!(shown["data"]["revisions"].as_array().unwrap().len(), 2);
    assert_eq!(shown["data"]["revisions"][1]["id"], data["revision_id"]);
}

#[test]
fn the_record_of_a_run_can_be_read_again() {
    let place = Place::new();
    place.script("echo out; echo err >&2; exit 4");
    let arguments =
        ["--json", "--run-id", "agent/7", "--input", r#"{"password":"hunter2","n":1}"#, "--", "--token", "hunter2"];
    let data = place.run(&arguments).data(4);
    assert_eq!(data["run_id"], "agent/7");
    let id = data["execution_id"].as_str().unwrap();
    let shown = place.belljar(&["exec", "show", id, "--json"]);
    let record = &shown.json()["data"];
    assert_eq!((&record["stdout"], &record["stderr"]), (&json!("out\n"), &json!("err\n")));
    assert_eq!(record["arguments"], json!({"password": "***", "n": 1}));
    assert_eq!(record["argv"], json!(["--token", "***"]));
    let everything = format!("{}{}", shown.stdout, place.belljar(&["audit", "export"]).stdout);
    assert!(!everything.contains("hunter2"));
    assert!(place.belljar(&["exec", "show", id]).stdout.contains("SCRIPT_EXECUTION_ERROR"));
    assert_eq!(place.belljar(&["exec", "show", "nothing", "--json"]).error(125)["code"], "NOT_FOUND");
}

#[test]
fn paused_nothing_starts_until_it_is_resumed() {
    let place = Place::new();
    place.script("echo ran");
    place.run(&[]);
    assert_eq!(place.belljar(&["pause"]).code, Some(0));
    assert_eq!(place.run(&["--json"]).error(125)["details"]["reason"], "execution_paused");
    assert_eq!(place.belljar(&["resume"]).code, Some(0));
    assert_eq!(place.run(&[]).stdout, "ran\n");
    let actions = place.actions();
    assert!(actions.contains(&"execution.pause".into()) && actions.contains(&"execution.resume".into()));
}

#[test]
fn a_revoked_grant_no_longer_opens() {
    let place = Place::new();
    let folder = place.script("echo ran");
    place.run(&[]);
    let grants = place.belljar(&["grant", "list", "--json"]).json();
    let id = grants["data"][0]["id"].as_str().unwrap();
    assert_eq!((grants["data"].as_array().unwrap().len(), &grants["data"][0]["state"]), (1, &json!("active")));
    assert_eq!(place.belljar(&["grant", "revoke", id]).code, Some(0));
    let run = ["run", text(&folder), "scripts/a.sh", "--json"];
    assert_eq!(place.belljar(&run).error(125)["details"]["reason"], "grant_missing");
    assert_eq!(place.belljar(&["grant", "revoke", id, "--json"]).error(125)["code"], "NOT_FOUND");
}
