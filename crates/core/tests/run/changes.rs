//! Saving from what a call brings: whole, or in part.

use belljar_core::caller::{Caller, Scope};
use belljar_core::code::Code;
use belljar_core::ids::RevisionId;
use belljar_core::refusal::Refusal;
use belljar_core::run::SkillSelector;
use belljar_core::service::{ChangeRequest, ChangedSkill};
use belljar_core::skill::{Changes, ComponentChange, Edition, InputMode, SkillFolder, Strictness};
use belljar_executor::{LogicalPath, SkillName};

use crate::support::{Scripted, TestWorld, caller, tenant};

fn changes(components: &str) -> Changes {
    Changes {
        name: SkillName::parse("deploy").unwrap(),
        description: None,
        instructions: None,
        components: ComponentChange::parse_all(components).unwrap(),
    }
}

fn new(components: &str) -> Changes {
    let (description, instructions) =
        (Some("Deploys: \"safely\".".into()), Some("Run scripts/a.sh.\n\n---\nThen look.".into()));
    Changes { description, instructions, ..changes(components) }
}

async fn change(world: &TestWorld, changes: Changes, expected: Option<&RevisionId>) -> Result<ChangedSkill, Refusal> {
    let request = ChangeRequest { changes, team: None, expected: expected.cloned(), publish: false };
    world.belljar.change_skill(&caller(), request).await
}

async fn edition(world: &TestWorld, revision: &RevisionId) -> Edition {
    let skill = SkillSelector::Slug(SkillName::parse("deploy").unwrap());
    world.belljar.edition(&caller(), &skill, Some(revision)).await.unwrap()
}

fn text(edition: &Edition, path: &str) -> String {
    String::from_utf8(edition.files().get(&LogicalPath::parse(path).unwrap()).unwrap().to_vec()).unwrap()
}

const SCRIPT: &str = r#"[{"path": "scripts/a.sh", "content": "echo a", "description": "Does a.", "timeout_seconds": 7,
    "parameters": {"type": "object", "default": null}}, {"path": "logo.bin", "base64": "/wAB"}]"#;

#[tokio::test]
async fn a_new_skill_is_one_of_the_published_format() {
    let world = TestWorld::new(Scripted::exits(0)).await;
    let saved = change(&world, new(SCRIPT), None).await.unwrap();
    assert!(saved.saved.is_new && saved.notes.is_empty());
    let edition = edition(&world, &saved.saved.revision.id).await;
    assert_eq!(
        text(&edition, "SKILL.md"),
        "---\nname: deploy\ndescription: \"Deploys: \\\"safely\\\".\"\n---\n\nRun scripts/a.sh.\n\n---\nThen look.\n"
    );
    assert_eq!(&edition.files().get(&LogicalPath::parse("logo.bin").unwrap()).unwrap()[..], b"\xff\x00\x01");
    let script = &edition.manifest().scripts[&LogicalPath::parse("scripts/a.sh").unwrap()];
    assert_eq!((script.description.as_deref(), script.timeout_seconds), (Some("Does a."), Some(7)));
    assert!(script.parameters.as_ref().unwrap()["default"].is_null());
    // It can be read back as strictly as it was written.
    let files = edition.files().iter().map(|(path, bytes)| (path.clone(), bytes.clone())).collect();
    let SkillFolder { front_matter, .. } = belljar_core::skill::assemble(files, Strictness::Strict).unwrap();
    assert_eq!(front_matter.description, "Deploys: \"safely\".");
}

#[tokio::test]
async fn what_a_change_leaves_out_stays() {
    let world = TestWorld::new(Scripted::exits(0)).await;
    let first = change(&world, new(SCRIPT), None).await.unwrap().saved.revision;
    // One script's content: its declarations and all other files stay.
    let second =
        change(&world, changes(r#"[{"path": "scripts/a.sh", "content": "echo b"}]"#), Some(&first.id)).await.unwrap();
    let second = second.saved.revision;
    let now = edition(&world, &second.id).await;
    let path = LogicalPath::parse("scripts/a.sh").unwrap();
    assert_eq!(text(&now, "scripts/a.sh"), "echo b");
    assert_eq!(now.manifest().scripts[&path], first.manifest.scripts[&path]);
    assert_eq!(now.files().len(), 3);
    assert_eq!(text(&now, "SKILL.md"), text(&edition(&world, &first.id).await, "SKILL.md"));
    // One declaration: nothing else of it changes, null takes one back, and no file changes.
    let declared = r#"[{"path": "scripts/a.sh", "input": "argv", "description": null, "runtime": "bash"}]"#;
    let third = change(&world, changes(declared), Some(&second.id)).await.unwrap().saved.revision;
    let script = &third.manifest.scripts[&path];
    assert_eq!((script.input, script.description.as_deref(), script.timeout_seconds), (InputMode::Argv, None, Some(7)));
    assert_eq!(script.language.as_ref().map(ToString::to_string).as_deref(), Some("bash"));
    assert_eq!(third.manifest.files, second.manifest.files);
    // A declared language outlives a change of the file, an evident one follows the file.
    let again =
        change(&world, changes(r#"[{"path": "scripts/a.sh", "content": "x"}]"#), Some(&third.id)).await.unwrap();
    assert_eq!(again.saved.revision.manifest.scripts[&path].language, script.language);
    // Instructions alone leave the front matter as it is, byte for byte.
    let words = Changes { instructions: Some("Other.".into()), ..changes("[]") };
    let fourth = change(&world, words, Some(&again.saved.revision.id)).await.unwrap().saved.revision;
    let index = text(&edition(&world, &fourth.id).await, "SKILL.md");
    assert_eq!(index, "---\nname: deploy\ndescription: \"Deploys: \\\"safely\\\".\"\n---\n\nOther.\n");
    // The same again makes no revision.
    let same = Changes { instructions: Some("Other.".into()), ..changes("[]") };
    assert!(!change(&world, same, Some(&fourth.id)).await.unwrap().saved.is_new);
}

#[tokio::test]
async fn a_type_is_declared_kept_and_changed() {
    let world = TestWorld::new(Scripted::exits(0)).await;
    let components = r#"[{"path": "run", "type": "script", "content": "echo a", "runtime": "sh"}, {"path": "scripts/lib.py", "type": "reference", "content": ""}]"#;
    let first = change(&world, new(components), None).await.unwrap().saved.revision;
    assert_eq!(first.manifest.scripts.keys().map(ToString::to_string).collect::<Vec<_>>(), ["run"]);
    let second =
        change(&world, changes(r#"[{"path": "a.txt", "content": ""}]"#), Some(&first.id)).await.unwrap().saved.revision;
    assert_eq!(second.manifest.scripts, first.manifest.scripts);
    let turned = r#"[{"path": "run", "type": "document"}, {"path": "scripts/lib.py", "type": "script"}]"#;
    let third = change(&world, changes(turned), Some(&second.id)).await.unwrap().saved.revision;
    assert_eq!(third.manifest.scripts.keys().map(ToString::to_string).collect::<Vec<_>>(), ["scripts/lib.py"]);
}

#[tokio::test]
async fn what_the_skill_declares_itself_follows_its_file() {
    let world = TestWorld::new(Scripted::exits(0)).await;
    let toml = |seconds: u32| {
        format!(r#"{{"path": "belljar.toml", "content": "[scripts.\"scripts/a.sh\"]\ntimeout_seconds = {seconds}\n"}}"#)
    };
    let components = format!(r#"[{{"path": "scripts/a.sh", "content": "echo a"}}, {}]"#, toml(5));
    let first = change(&world, new(&components), None).await.unwrap().saved.revision;
    let path = LogicalPath::parse("scripts/a.sh").unwrap();
    assert_eq!(first.manifest.scripts[&path].timeout_seconds, Some(5));
    let second = change(&world, changes(&format!("[{}]", toml(6))), Some(&first.id)).await.unwrap().saved.revision;
    assert_eq!(second.manifest.scripts[&path].timeout_seconds, Some(6));
    // What the call declares comes first, now and later.
    let third = change(&world, changes(r#"[{"path": "scripts/a.sh", "timeout_seconds": 9}]"#), Some(&second.id))
        .await
        .unwrap()
        .saved
        .revision;
    let fourth = change(&world, changes(&format!("[{}]", toml(7))), Some(&third.id)).await.unwrap().saved.revision;
    assert_eq!(fourth.manifest.scripts[&path].timeout_seconds, Some(9));
}

#[tokio::test]
async fn what_is_stale_taken_or_not_there_is_refused_and_nothing_is_written() {
    let world = TestWorld::new(Scripted::exits(0)).await;
    let first = change(&world, new(SCRIPT), None).await.unwrap().saved.revision;
    let second =
        change(&world, changes(r#"[{"path": "b", "content": ""}]"#), Some(&first.id)).await.unwrap().saved.revision;
    let entries = world.entries().await.len();
    let code =
        async |changes, expected: Option<&RevisionId>| change(&world, changes, expected).await.unwrap_err().code();
    assert_eq!(code(new(SCRIPT), None).await, Code::Conflict);
    assert_eq!(code(changes("[]"), Some(&first.id)).await, Code::Conflict);
    assert_eq!(code(changes("[]"), Some(&RevisionId::new("none"))).await, Code::RevisionNotFound);
    let other = Changes { name: SkillName::parse("other").unwrap(), ..changes("[]") };
    assert_eq!(code(other, Some(&second.id)).await, Code::SkillNotFound);
    assert_eq!(code(changes("[]"), None).await, Code::InvalidArgument);
    assert_eq!(
        code(Changes { description: Some(String::new()), ..changes("[]") }, Some(&second.id)).await,
        Code::InvalidArgument
    );
    for (scopes, team) in [(&[Scope::MemoryRead][..], None), (&Scope::ALL[..], Some("red"))] {
        let caller = Caller::authenticated(tenant(), "ana", ["blue".into()], scopes.iter().copied());
        let request =
            ChangeRequest { changes: new("[]"), team: team.map(str::to_owned), expected: None, publish: false };
        assert_eq!(world.belljar.change_skill(&caller, request).await.unwrap_err().code(), Code::AccessDenied);
    }
    assert_eq!(world.entries().await.len(), entries);
}

#[test]
fn wrong_components_are_named() {
    for (text, cause) in [
        ("", "is not JSON"),
        ("{}", "is not an array"),
        ("[1]", "[0] is not an object"),
        ("[{}]", "[0] has no `path`"),
        (r#"[{"path": 1}]"#, "`path` that is no text"),
        (r#"[{"path": "../x"}]"#, "`path` that is refused"),
        (r#"[{"path": "a", "content": 1}]"#, "are texts"),
        (r#"[{"path": "a", "content": "", "base64": ""}]"#, "both"),
        (r#"[{"path": "a", "base64": "?"}]"#, "`base64`"),
        (r#"[{"path": "a", "type": "skript"}]"#, "skript"),
        (r#"[{"path": "a"}, {"path": "a"}]"#, "[1] names a a second time"),
        (r#"[{"path": "a", "path": "b"}]"#, "is not JSON"),
    ] {
        let error = ComponentChange::parse_all(text).unwrap_err();
        assert!(error.contains(cause), "{text}: {error}");
    }
}

#[tokio::test]
async fn every_problem_of_what_would_be_saved_is_told() {
    let world = TestWorld::new(Scripted::exits(0)).await;
    for (components, cause) in [
        (r#"[{"path": "scripts/a.sh"}]"#, "needs `content`"),
        (r#"[{"path": "scripts/a.sh", "content": "", "inputs": 1}]"#, "unknown field `inputs`"),
        (r#"[{"path": "scripts/a.sh", "content": "", "inputs": null}]"#, "unknown field `inputs`"),
        (r#"[{"path": "scripts/a.sh", "content": "", "timeout_seconds": 99}]"#, "1 to 60"),
        (r#"[{"path": "scripts/a.sh", "content": "", "parameters": {"type": "objekt"}}]"#, "not a JSON Schema"),
        (r#"[{"path": "scripts/a.sh", "base64": "/w=="}]"#, "not UTF-8"),
        (r#"[{"path": ".env", "content": ""}]"#, ".env"),
        (r#"[{"path": "a.md", "type": "document", "content": "", "input": "argv"}]"#, "only a script has `input`"),
        (r#"[{"path": "SKILL.md", "content": "---\nname: deploy\ndescription: d\n---\n"}]"#, "cannot be"),
        (r#"[{"path": "A", "content": ""}, {"path": "a", "content": ""}]"#, "case"),
    ] {
        let refusal = change(&world, new(components), None).await.unwrap_err();
        assert_eq!(refusal.code(), Code::InvalidArgument);
        assert!(refusal.message().contains(cause), "{components}: {}", refusal.message());
        assert!(refusal.details()["problems"].as_array().is_some_and(|problems| !problems.is_empty()));
    }
    let index = r#"[{"path": "SKILL.md", "content": "---\nname: other\ndescription: d\n---\n"}]"#;
    let refusal = change(&world, changes(index), None).await.unwrap_err();
    assert!(refusal.message().contains("is named other"), "{}", refusal.message());
    assert!(world.entries().await.is_empty());
}
