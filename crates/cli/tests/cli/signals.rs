//! Signals: the first cancels the run, one that nobody needs any more ends the command.

use std::io::Read;
use std::process::{Child, Command, Stdio};

use serde_json::json;

use crate::support::{Place, binary, eventually, program, text, wait};

fn start(command: &mut Command) -> Child {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn send(signal: &str, child: &Child) {
    assert!(program("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
}

/// Approves the demo script and starts it; answers once the run is on the record.
fn started(place: &Place, command: &mut Command) -> Child {
    let runs = |place: &Place| place.actions().iter().filter(|action| *action == "script.run").count();
    let before = runs(place);
    let child = start(command);
    eventually("the run is on the record", || runs(place) > before);
    child
}

#[test]
fn an_interrupt_a_termination_or_a_hang_up_cancels_and_the_run_is_kept() {
    let place = Place::new();
    let folder = place.script("echo started; sleep 60");
    place.run(&["--timeout", "1"]);
    for signal in ["-INT", "-TERM", "-HUP"] {
        let arguments = ["run", text(&folder), "scripts/a.sh", "--json", "--timeout", "60"];
        let child = started(&place, &mut place.command(&arguments));
        send(signal, &child);
        let data = wait(child).data(130);
        assert_eq!((&data["status"], &data["error_kind"]), (&json!("cancelled"), &json!("CANCELLED")));
    }
    place.assert_trail_is_whole();
}

/// The id of the run that is under way.
fn running_id(place: &Place) -> String {
    let listed = place.belljar(&["exec", "list", "--json"]).json();
    let running = listed["data"].as_array().unwrap().iter().find(|record| record["status"] == "running").unwrap();
    running["execution_id"].as_str().unwrap().to_owned()
}

#[test]
fn another_process_cancels_a_run_and_waits_for_its_ending() {
    let place = Place::new();
    let folder = place.script("echo started; sleep 60");
    place.run(&["--timeout", "1"]);
    let arguments = ["run", text(&folder), "scripts/a.sh", "--json", "--timeout", "60"];
    let child = started(&place, &mut place.command(&arguments));
    let id = running_id(&place);
    let told = place.belljar(&["exec", "cancel", &id]);
    assert_eq!((told.code, told.stdout), (Some(0), format!("{id}: cancelled\n")));
    assert_eq!(wait(child).data(130)["status"], "cancelled");
    // It has ended: asked again, that is what is told, and nothing more is written.
    assert_eq!(place.belljar(&["exec", "cancel", &id, "--json"]).json()["data"]["status"], "cancelled");
    assert_eq!(place.actions().iter().filter(|action| *action == "execution.cancel").count(), 1);
    assert_eq!(place.belljar(&["exec", "cancel", "none", "--json"]).error(125)["code"], "NOT_FOUND");
    place.assert_trail_is_whole();
}

#[test]
fn revoking_can_stop_what_runs_and_without_it_does_not() {
    let place = Place::new();
    let folder = place.script("sleep 60");
    place.run(&["--timeout", "1"]);
    let arguments = ["run", text(&folder), "scripts/a.sh", "--grant", "--json", "--timeout", "60"];
    let child = started(&place, &mut place.command(&arguments));
    let id = running_id(&place);
    assert_eq!(place.belljar(&["grant", "revoke", "demo"]).code, Some(0));
    assert_eq!(running_id(&place), id, "a run that was approved goes on");
    assert_eq!(place.belljar(&["exec", "cancel", &id]).code, Some(0));
    wait(child).data(130);
    let child = started(&place, &mut place.command(&arguments));
    let told = place.belljar(&["grant", "revoke", "demo", "--stop", "--json"]).json();
    assert_eq!(told["stopped"][0]["status"], "cancelled", "{told}");
    assert_eq!(wait(child).data(130)["status"], "cancelled");
    place.assert_trail_is_whole();
}

#[test]
fn once_the_run_is_over_a_signal_ends_the_command() {
    let place = Place::new();
    let folder = place.script("yes | head -c 200000");
    place.run(&[]);
    let mut child = start(&mut place.command(&["run", text(&folder), "scripts/a.sh"]));
    // The first byte comes when the run is over; the rest does not fit into the pipe.
    child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
    send("-INT", &child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    place.assert_trail_is_whole();
}

#[test]
fn what_was_ignored_at_the_start_stays_ignored() {
    let place = Place::new();
    let folder = place.script("sleep 2; echo done");
    place.run(&[]);
    let line = "trap '' INT HUP; exec \"$0\" \"$@\"";
    let mut command = program("sh");
    command.args(["-c", line, text(&binary()), "run", text(&folder), "scripts/a.sh"]);
    command.env("BELLJAR_STATE", place.state()).env("HOME", place.path("home"));
    let child = started(&place, &mut command);
    send("-INT", &child);
    send("-HUP", &child);
    let told = wait(child);
    assert_eq!((told.code, told.stdout.as_str()), (Some(0), "done\n"), "{told:?}");
}
