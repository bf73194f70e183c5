//! The skills in `examples/skills` keep to the letter of the format, and their small files matter.

use std::sync::Arc;

use belljar_core::skill::{InputMode, assemble};
use belljar_executor::LogicalPath;

use super::*;

fn shipped(name: &str) -> SkillFolder {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/skills").join(name);
    let skill = read(&path, Strictness::Strict).unwrap();
    assert!(skill.notes.is_empty(), "{:?}", skill.notes);
    skill
}

#[test]
fn deployment_check() {
    let skill = shipped("deployment-check");
    let scripts: Vec<_> = skill.manifest.scripts.iter().map(|(path, script)| (path.as_str(), script)).collect();
    let [("scripts/check.sh", script)] = scripts[..] else { panic!("{scripts:?}") };
    assert_eq!((script.language.as_ref().unwrap().as_str(), script.input), ("sh", InputMode::Stdin));
    let schema = jsonschema::draft202012::new(script.parameters.as_ref().unwrap()).unwrap();
    assert!(schema.is_valid(&serde_json::json!({"environment": "staging"})));
    assert!(!schema.is_valid(&serde_json::json!({"environment": "moon"})));
    assert!(!schema.is_valid(&serde_json::json!({})));
}

#[test]
fn csv_profile() {
    let skill = shipped("csv-profile");
    let scripts: Vec<_> = skill.manifest.scripts.keys().map(LogicalPath::as_str).collect();
    assert_eq!(scripts, ["scripts/profile.py"]);
    let script = skill.manifest.scripts.values().next().unwrap();
    let schema = jsonschema::draft202012::new(script.parameters.as_ref().unwrap()).unwrap();
    assert!(schema.is_valid(&serde_json::json!({})));
    assert!(!schema.is_valid(&serde_json::json!({"top": 0})));
}

#[test]
fn one_byte_of_any_file_changes_the_files_digest() {
    for name in ["deployment-check", "csv-profile"] {
        let skill = shipped(name);
        for path in skill.manifest.files.keys().filter(|path| !path.as_str().ends_with(".toml")) {
            let mut files: std::collections::BTreeMap<LogicalPath, Arc<[u8]>> =
                skill.files.iter().map(|(path, bytes)| (path.clone(), Arc::clone(bytes))).collect();
            let changed = [&files[path][..], b"\n"].concat();
            files.insert(path.clone(), changed.into());
            assert_ne!(assemble(files, Strictness::Strict).unwrap().files.digest(), skill.files.digest(), "{path}");
        }
    }
}
