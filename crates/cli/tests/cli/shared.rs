//! Several processes over one store.

use std::process::Stdio;

use crate::support::{Place, eventually, text, wait};

#[test]
fn a_starting_process_leaves_a_living_neighbours_run_alone() {
    let place = Place::new();
    let folder = place.script("echo started; sleep 3; echo done");
    place.run(&["--timeout", "1"]);
    let mut command = place.command(&["run", text(&folder), "scripts/a.sh", "--json"]);
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let open = || place.actions().iter().filter(|action| *action == "script.run").count() == 2;
    eventually("the neighbour's run is on the record", open);
    // Each of these opens the store, and would close the run if its owner were dead.
    let verified = place.belljar(&["audit", "verify", "--json"]).json();
    assert_eq!((&verified["data"]["running"], &verified["data"]["valid"]), (&1.into(), &true.into()), "{verified}");
    let data = wait(child).data(0);
    assert_eq!((&data["stdout"], &data["recorded"]), (&"started\ndone\n".into(), &true.into()));
    place.assert_trail_is_whole();
}

#[test]
fn a_killed_process_leaves_nothing_and_its_run_is_closed_as_lost() {
    let place = Place::new();
    let folder = place.script("sleep 61");
    place.run(&["--timeout", "1"]);
    let mut command = place.command(&["run", text(&folder), "scripts/a.sh", "--timeout", "60"]);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    eventually("the script runs", || !crate::support::processes_with("sleep 61").is_empty());
    child.kill().unwrap();
    child.wait().unwrap();
    eventually("nothing of the run is left", || crate::support::processes_with("sleep 61").is_empty());
    let records = place.belljar(&["exec", "list", "--json"]).json();
    assert_eq!(records["data"][0]["status"], "lost");
    assert_eq!(records["data"][0]["error_kind"], "INTERNAL");
    place.assert_trail_is_whole();
}

#[test]
fn two_processes_at_once_make_one_chain() {
    let place = Place::new();
    let folder = place.script("echo ran");
    place.run(&[]);
    let children: Vec<_> = (0..6)
        .map(|_| {
            let mut command = place.command(&["run", text(&folder), "scripts/a.sh"]);
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    for child in children {
        let told = wait(child);
        assert_eq!((told.code, told.stdout.as_str()), (Some(0), "ran\n"), "{told:?}");
    }
    assert_eq!(place.actions().iter().filter(|action| *action == "script.outcome").count(), 7);
    place.assert_trail_is_whole();
}

/// Somebody deletes a file of the store under a running process. What later processes acknowledge must
/// stay, and the running one must not say that its outcome is kept.
fn harmed_while_running(harm: impl Fn(&Place)) {
    let place = Place::new();
    let folder = place.script("sleep 3; echo slow");
    place.run(&["--timeout", "1"]);
    let mut command = place.command(&["run", text(&folder), "scripts/a.sh", "--json"]);
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    eventually("the run is on the record", || {
        place.actions().iter().filter(|action| *action == "script.run").count() == 2
    });
    harm(&place);
    let acknowledged: Vec<_> = (0..2)
        .map(|_| place.belljar(&["audit", "head"]).stdout.trim().to_owned())
        .inspect(|_| drop(place.belljar(&["pause"])))
        .inspect(|_| drop(place.belljar(&["resume"])))
        .collect();
    let slow = wait(child);
    assert_ne!(slow.json()["data"]["recorded"], true, "{slow:?}");
    for head in acknowledged {
        let told = place.belljar(&["audit", "verify", "--expect", &head]);
        assert_eq!(told.code, Some(0), "{told:?}");
    }
}

#[test]
fn a_deleted_index_of_the_log_loses_nothing_that_was_acknowledged() {
    harmed_while_running(|place| std::fs::remove_file(place.state().join("belljar.db-shm")).unwrap());
}

#[test]
fn a_process_whose_owner_file_was_deleted_does_not_claim_its_record() {
    harmed_while_running(|place| {
        for entry in std::fs::read_dir(place.state().join("owners")).unwrap() {
            std::fs::remove_file(entry.unwrap().path()).unwrap();
        }
    });
}
