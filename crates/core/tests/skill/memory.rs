//! Skills from files in memory, their declarations and both ways to read the front matter.

use std::collections::BTreeMap;

use belljar_core::skill::{ComponentType, InputMode, NoteKind, assemble};
use belljar_executor::{LogicalPath, WorkingDirectory};

use super::*;

fn assembled(files: &[(&str, &str)], strictness: Strictness) -> Result<SkillFolder, Vec<String>> {
    let files = files.iter().map(|(path, text)| (LogicalPath::parse(path).unwrap(), text.as_bytes().into()));
    assemble(files.collect::<BTreeMap<_, _>>(), strictness)
        .map_err(|problems| problems.iter().map(ToString::to_string).collect())
}

#[test]
fn paths_that_leave_the_skill_cannot_be_written_down() {
    for path in ["../x", "/etc/passwd", "a/../../b", "a\\..\\b", "C:\\x", "a\0b", "./a", "a//b", ""] {
        assert!(LogicalPath::parse(path).is_err(), "{path:?}");
    }
}

#[test]
fn what_a_folder_refuses_is_refused_here_too() {
    for (path, cause) in [
        ("config/.env", "a name that secrets have"),
        ("id_rsa/readme.md", "a name that secrets have"),
        ("skill.md", "only by case"),
        ("SKILL.md/a", "which is a file"),
    ] {
        let problems = assembled(&[("SKILL.md", SKILL), (path, "x")], Strictness::Lenient).unwrap_err();
        assert!(problems.len() == 1 && problems[0].contains(cause), "{path}: {problems:?}");
    }
    let skill = assembled(&[("SKILL.md", SKILL), (".git/a", ""), (".git/b", ""), ("x/.git/c", "")], Strictness::Strict);
    let skill = skill.unwrap();
    assert_eq!(paths(&skill), ["SKILL.md"]);
    assert_eq!(skill.notes.iter().map(|note| note.path.as_str()).collect::<Vec<_>>(), [".git", "x/.git"]);
}

#[test]
fn strict_refuses_what_lenient_repairs() {
    let text = "---\nname: my-skill\ndescription: Does something.\nversion: 1.10\nauthor: me\n---\n";
    let skill = assembled(&[("SKILL.md", text)], Strictness::Lenient).unwrap();
    assert_eq!(skill.front_matter.metadata["version"], "1.10");
    assert_eq!(skill.front_matter.metadata["author"], "me");
    assert!(skill.notes.len() == 2 && skill.notes.iter().all(|note| note.kind == NoteKind::Repaired));
    let bytes = skill.files.get(&LogicalPath::parse("SKILL.md").unwrap()).unwrap();
    assert_eq!(&**bytes, text.as_bytes());
    assert_eq!(assembled(&[("SKILL.md", text)], Strictness::Strict).unwrap_err().len(), 2);
}

#[test]
fn declarations_reach_the_manifest() {
    let declarations = r#"
        [scripts."tools/check"]
        description = "Checks."
        input = "stdin"
        cwd = "script"
        runtime = "py"
        timeout_seconds = 10
        parameters = { type = "object" }
        [components."scripts/data.py"]
        type = "example"
        [components."scripts/binary.py"]
        type = "artifact"
    "#;
    let mut files: BTreeMap<LogicalPath, std::sync::Arc<[u8]>> = BTreeMap::new();
    for (path, bytes) in [
        ("SKILL.md", SKILL.as_bytes()),
        ("belljar.toml", declarations.as_bytes()),
        ("tools/check", b"#!/bin/sh\n"),
        ("scripts/data.py", b"x"),
        ("scripts/binary.py", b"\xff"),
    ] {
        files.insert(LogicalPath::parse(path).unwrap(), bytes.into());
    }
    let manifest = assemble(files, Strictness::Strict).unwrap().manifest;
    let scripts: Vec<_> = manifest.scripts.iter().map(|(path, script)| (path.as_str(), script)).collect();
    let [("tools/check", script)] = scripts[..] else { panic!("{scripts:?}") };
    assert_eq!(script.language.as_ref().unwrap().as_str(), "py");
    assert_eq!(
        (script.input, script.cwd, script.timeout_seconds),
        (InputMode::Stdin, WorkingDirectory::Script, Some(10))
    );
    let types: Vec<_> = manifest.files.values().map(|entry| entry.component_type).collect();
    use ComponentType::{Artifact, Document, Example, Script};
    assert_eq!(types, [Document, Document, Artifact, Example, Script]);
}

#[test]
fn declarations_that_fit_no_file_are_refused() {
    for (declarations, cause) in [
        ("[scripts.\"scripts/none.sh\"]", "[scripts.\"scripts/none.sh\"] names a file that the skill does not have"),
        ("[components.\"none.txt\"]\ntype = \"reference\"", "names a file that the skill does not have"),
        ("[scripts.\"../x\"]", "names a file that the skill does not have"),
        ("[scripts.\"SKILL.md\"]", "cannot be one"),
    ] {
        let problems = assembled(&[("SKILL.md", SKILL), ("belljar.toml", declarations)], Strictness::Lenient);
        let problems = problems.unwrap_err();
        assert!(problems.len() == 1 && problems[0].contains(cause), "{declarations}: {problems:?}");
    }
}

#[test]
fn changed_declarations_change_the_manifest() {
    let manifest = |text: &str| {
        let files = [("SKILL.md", SKILL), ("scripts/a.sh", "x"), ("belljar.toml", text)];
        assembled(&files, Strictness::Strict).unwrap().manifest.canonical_json().unwrap()
    };
    assert_ne!(manifest("[scripts.\"scripts/a.sh\"]\nstandalone = true"), manifest("[scripts.\"scripts/a.sh\"]"));
}
