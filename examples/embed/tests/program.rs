//! The program, as whoever tries it runs it.

#![expect(clippy::disallowed_methods, reason = "a test starts a program")]

#[test]
fn it_is_refused_then_approved_then_runs_and_is_on_the_record() {
    let told = std::process::Command::new(env!("CARGO_BIN_EXE_belljar-example-embed")).output().unwrap();
    let text = String::from_utf8(told.stdout).unwrap();
    assert!(told.status.success(), "{text}");
    let lines: Vec<_> = text.lines().collect();
    assert!(lines[0].starts_with("before: SCRIPT_DENIED"), "{text}");
    assert_eq!(lines[1], "after:  success 42");
    assert!(lines[2].starts_with("trail:  4:"), "denied, granted, run, outcome: {text}");
    let source = include_str!("../src/main.rs");
    assert!(source.lines().count() < 60, "an agent host fits on a page");
}
