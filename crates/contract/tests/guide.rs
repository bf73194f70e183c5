//! The guide's executor, as a stranger would build it: a crate outside of this workspace, made of what
//! stands on the page and of the published crates.

#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test fails by panicking and starts cargo")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What an executor may need at most, lines.
const MOST_LINES: usize = 120;

fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The guide's files: the code blocks that name one.
fn files_of_guide() -> BTreeMap<String, String> {
    let guide = fs::read_to_string(project().join("docs/guide/write-your-own-executor.md")).unwrap();
    let mut files = BTreeMap::new();
    let mut lines = guide.lines();
    while let Some(line) = lines.next() {
        let Some((_, name)) = line.strip_prefix("```").and_then(|info| info.split_once(' ')) else { continue };
        let text: Vec<_> = lines.by_ref().take_while(|line| *line != "```").collect();
        files.insert(name.to_owned(), text.join("\n") + "\n");
    }
    files
}

#[test]
fn the_executor_of_the_guide_passes_the_contract_outside_of_the_workspace() {
    let files = files_of_guide();
    assert_eq!(files.keys().collect::<Vec<_>>(), ["Cargo.toml", "src/lib.rs", "tests/contract.rs"]);
    assert!(files["src/lib.rs"].lines().count() < MOST_LINES);
    let stranger = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let file = stranger.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, with_path_dependencies(&text)).unwrap();
    }
    // The versions that this workspace has, so that nothing is fetched.
    fs::copy(project().join("Cargo.lock"), stranger.path().join("Cargo.lock")).unwrap();
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut test = Command::new(cargo);
    test.args(["test", "--offline", "--test", "contract"]).current_dir(stranger.path());
    let told = test.env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("guide")).output().unwrap();
    let text = format!("{}{}", String::from_utf8_lossy(&told.stdout), String::from_utf8_lossy(&told.stderr));
    assert!(told.status.success(), "{text}");
    let clauses = belljar_contract::Clause::all().len();
    assert!(text.contains(&format!("{} passed; 0 failed", clauses + 1)), "{text}");
    for declined in ["skipped usage_is_told: declined: ", "skipped signal_is_told: declined: "] {
        assert!(text.contains(declined), "{text}");
    }
    assert_eq!(text.matches("skipped ").count(), 2, "nothing else is skipped: {text}");
}

fn with_path_dependencies(text: &str) -> String {
    ["executor", "contract"].iter().fold(text.to_owned(), |text, name| {
        let path = project().join("crates").join(name);
        text.replace(&format!("belljar-{name} = \"0.1\""), &format!("belljar-{name} = {{ path = {path:?} }}"))
    })
}
