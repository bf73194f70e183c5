use belljar_executor::{LanguageKey, WorkingDirectory};
use serde_json::json;

use super::*;
use crate::skill::{InputMode, LimitsDeclaration};

fn declaration(language: &str) -> ScriptDeclaration {
    ScriptDeclaration {
        language: Some(LanguageKey::parse(language).unwrap()),
        description: None,
        input: InputMode::Both,
        cwd: WorkingDirectory::Workspace,
        parameters: None,
        output: None,
        timeout_seconds: None,
        limits: LimitsDeclaration::default(),
        standalone: false,
    }
}

fn files(content: &str) -> FileTree {
    let path = LogicalPath::parse("scripts/a").unwrap();
    FileTree::new([(path, std::sync::Arc::from(content.as_bytes()))].into())
}

fn pin(declaration: &ScriptDeclaration, content: &str, interpreter: &str, class: &str) -> Digest {
    let interpreter = Interpreter::parse(interpreter).unwrap();
    let limits_class = LimitsClass::parse(class).unwrap();
    let facts = PinFacts {
        content,
        interpreter: Some(&interpreter),
        limits_class: &limits_class,
        files: files(content).digest(),
    };
    script_pin(declaration, facts)
}

/// The published vectors. A change here breaks every grant in the field.
#[test]
fn golden_vectors() {
    let plain = pin(&declaration("sh"), "echo hello", "sh", "standard");
    let mut with_schema = declaration("py");
    with_schema.parameters = Some(json!({"type": "object", "required": ["a"]}));
    let with_schema = pin(&with_schema, "print('hello')", "python", "standard");
    let unicode = pin(&declaration("sh"), "echo çalış", "/usr/bin/dash", "standard");
    let mut declared = declaration("bash");
    declared.input = InputMode::Argv;
    declared.cwd = WorkingDirectory::Skill;
    declared.standalone = true;
    declared.limits.memory_bytes = Some(64 << 20);
    let declared = pin(&declared, "", "bash", "large");
    let (first, second) = (LogicalPath::parse("scripts/a.sh").unwrap(), LogicalPath::parse("scripts/b.py").unwrap());
    let set = set_pin([(&second, with_schema), (&first, plain)]);
    let found = [plain, with_schema, unicode, declared, set].map(|pin| pin.to_string());
    let published: Vec<String> = include_str!("golden.txt")
        .lines()
        .filter_map(|line| line.split_whitespace().last())
        .map(str::to_owned)
        .collect();
    assert_eq!(found.as_slice(), published.as_slice());
}

#[test]
fn everything_that_decides_what_runs_changes_the_pin() {
    let base = pin(&declaration("sh"), "x", "sh", "standard");
    let changes: [fn(&mut ScriptDeclaration); 6] = [
        |script| script.language = None,
        |script| script.input = InputMode::Stdin,
        |script| script.cwd = WorkingDirectory::Script,
        |script| script.parameters = Some(json!({})),
        |script| script.limits.tasks = Some(1),
        |script| script.standalone = true,
    ];
    let mut seen = std::collections::BTreeSet::from([base]);
    for change in changes {
        let mut changed = declaration("sh");
        change(&mut changed);
        assert!(seen.insert(pin(&changed, "x", "sh", "standard")));
    }
    assert!(seen.insert(pin(&declaration("sh"), "y", "sh", "standard")));
    assert!(seen.insert(pin(&declaration("sh"), "x", "/bin/sh", "standard")));
    assert!(seen.insert(pin(&declaration("sh"), "x", "sh", "other")));
}

#[test]
fn what_only_people_and_clocks_read_does_not() {
    let base = pin(&declaration("sh"), "x", "sh", "standard");
    let changes: [fn(&mut ScriptDeclaration); 3] = [
        |script| script.description = Some("d".into()),
        |script| script.output = Some(json!({})),
        |script| script.timeout_seconds = Some(3),
    ];
    for change in changes {
        let mut changed = declaration("sh");
        change(&mut changed);
        assert_eq!(pin(&changed, "x", "sh", "standard"), base);
    }
}

#[test]
fn a_set_changes_with_every_script_and_not_with_their_order() {
    let (one, two) = (LogicalPath::parse("scripts/a").unwrap(), LogicalPath::parse("scripts/b").unwrap());
    let (left, right) = (Digest::of(b"1"), Digest::of(b"2"));
    let base = set_pin([(&one, left), (&two, right)]);
    assert_eq!(set_pin([(&two, right), (&one, left)]), base);
    for other in [set_pin([(&one, left)]), set_pin([(&one, right), (&two, left)]), set_pin([])] {
        assert_ne!(other, base);
    }
    assert_ne!(set_pin([(&one, left)]), left);
}
