//! At a terminal, and only there, a person is asked.

use crate::support::{Place, binary, program, text};

/// Runs the command on a terminal of its own and answers each prompt in turn; prints what the terminal
/// showed and ends with the command's exit code.
const AT_A_TERMINAL: &str = r#"
import os, pty, sys
answers, command = sys.argv[1].split(","), sys.argv[2:]
pid, terminal = pty.fork()
if pid == 0:
    os.execv(command[0], command)
shown = b""
while True:
    try:
        piece = os.read(terminal, 4096)
    except OSError:
        break
    if not piece:
        break
    shown += piece
    if shown.count(b"[n]o  ") > 0 and answers and shown.rstrip(b" ").endswith(b"[n]o"):
        os.write(terminal, answers.pop(0).encode() + b"\n")
sys.stdout.buffer.write(shown)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"#;

pub(crate) fn at_a_terminal(place: &Place, answers: &str, arguments: &[&str]) -> crate::support::Told {
    let mut command = program("python3");
    command.args(["-c", AT_A_TERMINAL, answers, text(&binary())]).args(arguments);
    crate::support::told(command.env("BELLJAR_STATE", place.state()).env("HOME", place.path("home")))
}

#[test]
fn yes_approves_what_was_shown_once_and_from_now_on() {
    let place = Place::new();
    let folder = place.script("echo it-ran # \u{1b}[31m");
    let run = ["run", text(&folder), "scripts/a.sh"];
    let told = at_a_terminal(&place, "v,y", &run);
    assert_eq!(told.code, Some(0), "{told:?}");
    for part in ["it may see", "it may use", "sealed by", "bubblewrap", "pin", "| echo it-ran", "it-ran", "recorded as"]
    {
        assert!(told.stdout.contains(part), "{part} is missing in {}", told.stdout);
    }
    assert!(!told.stdout.contains('\u{1b}'), "what a script wrote does not command the terminal: {told:?}");
    let again = at_a_terminal(&place, "", &run);
    assert!(again.code == Some(0) && !again.stdout.contains("[n]o"), "{again:?}");
}

#[test]
fn no_runs_nothing() {
    let place = Place::new();
    let folder = place.script("echo it-ran");
    let told = at_a_terminal(&place, "maybe,n", &["run", text(&folder), "scripts/a.sh"]);
    assert!(told.code == Some(125) && !told.stdout.contains("it-ran"), "{told:?}");
    assert_eq!(place.actions(), ["skill.save", "script.denied"]);
}

#[test]
fn with_json_nobody_is_asked() {
    let place = Place::new();
    let folder = place.script("echo it-ran");
    let told = at_a_terminal(&place, "y", &["run", text(&folder), "scripts/a.sh", "--json"]);
    assert!(told.code == Some(125) && !told.stdout.contains("[n]o"), "{told:?}");
}
