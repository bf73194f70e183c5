//! The process ends at named points: afterwards the store opens, the chain verifies, every acknowledged
//! entry is there, open runs are closed as lost, and nothing still runs.

use crate::support::{Place, eventually, processes_with};

/// How often each point is tried.
const TIMES: usize = 20;

fn crash_at(point: &str) {
    // The probe at the start of the process is the first whose output is seen; the script the second.
    let at = if point == "after_exec" { "after_exec:2" } else { point };
    let place = Place::new();
    let mark = format!("crash-{point}-{}", std::process::id());
    // The mark stands in the command line of a child, so that a survivor would be found.
    place.script(&format!("echo started; sh -c 'sleep 1; : {mark}'"));
    place.run(&[]);
    let kept = place.actions().len();
    let mut crashed = 0;
    for _ in 0..TIMES {
        // By name, so that the first commit of the process is that of the run.
        let mut command = place.command(&["run", "demo", "scripts/a.sh"]);
        let told = crate::support::told(command.env("BELLJAR_CRASH_AT", at).stdin(std::process::Stdio::null()));
        assert_eq!(told.code, None, "the process must have been ended by a signal: {told:?}");
        crashed += 1;
        let verified = place.belljar(&["audit", "verify", "--json"]).json();
        assert_eq!(verified["data"]["valid"], true, "{verified}");
        assert_eq!(verified["data"]["running"], 0, "{verified}");
    }
    assert_eq!(crashed, TIMES);
    eventually("nothing of a run is left", || processes_with(&mark).is_empty());
    assert!(place.actions().len() >= kept, "an acknowledged entry is gone");
    let records = place.belljar(&["exec", "list", "--json", "--limit", "100"]).json();
    let lost = records["data"].as_array().unwrap().iter().filter(|record| record["status"] == "lost").count();
    let expected = match point {
        // Nothing was committed yet.
        "before_commit" => 0,
        _ => TIMES,
    };
    assert_eq!(lost, expected, "{point}");
    assert_eq!(place.belljar(&["run", "demo", "scripts/a.sh"]).code, Some(0));
    place.assert_trail_is_whole();
}

macro_rules! crash_points {
    ($($point:ident),*) => {
        $(#[test]
        fn $point() {
            if cfg!(feature = "crash-points") {
                crash_at(stringify!($point));
            } else {
                crate::support::skipped(stringify!($point), "the feature crash-points is off");
            }
        })*
    };
}

crash_points!(before_commit, after_commit, after_exec, before_outcome);
