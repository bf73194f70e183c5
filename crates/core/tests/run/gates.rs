//! Every gate closed alone, and in pairs: the executor is not called, one entry tells the first.

use belljar_core::audit::Action;
use belljar_core::code::{Code, Reason};
use belljar_core::grant::{Grant, GrantTarget};
use belljar_core::ids::{AuditId, GrantId};
use belljar_core::options::OptionsDraft;
use belljar_core::run::{Call, SkillSelector};
use belljar_core::skill::Saved;
use belljar_core::time::Timestamp;
use belljar_executor::{Cause, Unavailable};

use crate::support::{Scripted, StatedClock, TestWorld, call, caller, options, tenant};

/// The gates that a test closes, in their order. `StoredScriptsDisabled` and the like close themselves
/// through the options, the others through the skill, the grants and the call.
const CLOSABLE: [Reason; 12] = [
    Reason::FeatureDisabled,
    Reason::ExecutionPaused,
    Reason::StoredScriptsDisabled,
    Reason::GrantMissing,
    Reason::GrantUnpinned,
    Reason::ContentChanged,
    Reason::InterpreterNotAllowed,
    Reason::ArgumentsTooLarge,
    Reason::ArgumentsInvalid,
    Reason::ScriptNameInvalid,
    Reason::ScriptTooLarge,
    Reason::SandboxUnavailable,
];

/// Grants exclude each other: there is none, one without a pin, or one with another pin.
fn exclude_each_other(left: Reason, right: Reason) -> bool {
    let grants = [Reason::GrantMissing, Reason::GrantUnpinned, Reason::ContentChanged];
    grants.contains(&left) && grants.contains(&right)
}

fn options_closing(closed: &[Reason]) -> OptionsDraft {
    let mut options = options();
    for reason in closed {
        match reason {
            Reason::FeatureDisabled => options.enabled = false,
            Reason::StoredScriptsDisabled => options.allow_stored_scripts = false,
            Reason::InterpreterNotAllowed => options.interpreters.clear(),
            Reason::ArgumentsTooLarge => options.max_argument_bytes = 8,
            Reason::ScriptTooLarge => options.max_script_bytes = 4,
            _ => {}
        }
    }
    options
}

fn call_closing(closed: &[Reason], script: &str) -> Call {
    let mut call = Call { script: script.to_owned(), ..call() };
    // Sixteen bytes, so that one argument can be both too large and not JSON.
    call.arguments_json =
        match (closed.contains(&Reason::ArgumentsTooLarge), closed.contains(&Reason::ArgumentsInvalid)) {
            (false, false) => None,
            (true, false) => Some(r#"{"environment":1}"#.into()),
            (_, true) => Some("{not json, is it?".into()),
        };
    call
}

async fn prepare(world: &TestWorld, closed: &[Reason], script: &str) -> Saved {
    let saved = world.save(&[(script, "echo hello")]).await;
    if closed.contains(&Reason::ExecutionPaused) {
        assert!(world.belljar.set_paused(&caller(), false, true).await.unwrap());
    }
    if closed.contains(&Reason::GrantUnpinned) {
        put_grant(world, &saved, script, None).await;
    } else if closed.contains(&Reason::ContentChanged) {
        put_grant(world, &saved, script, Some(belljar_executor::Digest::of(b"something else"))).await;
    } else if !closed.contains(&Reason::GrantMissing) {
        // Put there as it is: a script whose language is not allowed cannot be granted through the service.
        let skill = SkillSelector::Id(saved.skill.id.clone());
        let pins = world.belljar.pins(&caller(), &skill, None).await.unwrap();
        put_grant(world, &saved, script, Some(pins.scripts.values().next().unwrap().pin)).await;
    }
    saved
}

async fn put_grant(world: &TestWorld, saved: &Saved, script: &str, pin: Option<belljar_executor::Digest>) {
    let now = Timestamp::from_microseconds(StatedClock::START);
    let grant = Grant {
        id: GrantId::new("put"),
        tenant: tenant(),
        skill_id: saved.skill.id.clone(),
        target: GrantTarget::Script(script.into()),
        pin,
        granted_by: "ana".into(),
        granted_at: now,
        expires_at: None,
        revoked_at: None,
    };
    let draft =
        belljar_core::audit::AuditDraft::new(AuditId::new("put"), tenant(), "ana", Action::ScriptGrant, "demo", now);
    world.ports.grants.add(grant, false, draft).await.unwrap();
}

async fn assert_denied(closed: &[Reason], expected: Reason) {
    let unavailable = closed.contains(&Reason::SandboxUnavailable);
    let executor =
        Scripted::exits(0).probing(move || if unavailable { Err(no_sandbox()) } else { Ok(Default::default()) });
    // The colon is legal in a path and not in a stored script's name.
    let script = if closed.contains(&Reason::ScriptNameInvalid) { "scripts/a:b.sh" } else { "scripts/a.sh" };
    let world = TestWorld::with(executor, options_closing(closed)).await;
    prepare(&world, closed, script).await;
    let before = world.entries().await.len();
    let refusal = world.belljar.execute(&caller(), call_closing(closed, script)).await.unwrap_err();
    let code = if expected == Reason::SandboxUnavailable { Code::SandboxUnavailable } else { Code::ScriptDenied };
    assert_eq!(refusal.code(), code, "{closed:?}");
    if code == Code::ScriptDenied {
        assert_eq!(refusal.reason(), Some(expected.as_str()), "{closed:?}");
        assert_eq!(refusal.message(), expected.sentence());
    }
    assert_eq!(world.executor.calls(), 0, "{closed:?}");
    let entries = world.entries().await;
    assert_eq!(entries.len(), before + 1, "{closed:?}");
    let entry = entries.last().unwrap();
    assert_eq!(entry.action, Action::ScriptDenied);
    assert_eq!(entry.facts()["reason"], expected.as_str(), "{closed:?}");
    assert_eq!(world.belljar.meter().denials.get(&expected), Some(&1));
    world.assert_trail_is_whole().await;
}

fn no_sandbox() -> Unavailable {
    let (message, remedy) = ("bwrap is not installed".into(), "sudo apt-get install bubblewrap".into());
    Unavailable { cause: Cause::MissingProgram, control: None, message, remedy }
}

#[tokio::test]
async fn each_gate_closed_alone_denies_with_its_code() {
    for reason in CLOSABLE {
        assert_denied(&[reason], reason).await;
    }
}

#[tokio::test]
async fn of_two_closed_gates_the_first_wins() {
    for (at, first) in CLOSABLE.iter().enumerate() {
        for second in &CLOSABLE[at + 1..] {
            if !exclude_each_other(*first, *second) {
                assert_denied(&[*first, *second], *first).await;
            }
        }
    }
}

#[tokio::test]
async fn with_every_gate_open_the_script_runs_once() {
    let world = TestWorld::new(Scripted::exits(0)).await;
    world.ready().await;
    let answer = world.belljar.execute(&caller(), call()).await.unwrap();
    assert_eq!(answer.record.status.as_str(), "success");
    assert_eq!(world.executor.calls(), 1);
    let actions: Vec<_> = world.entries().await.iter().map(|entry| entry.action).collect();
    assert_eq!(actions, [Action::SkillSave, Action::ScriptGrant, Action::ScriptRun, Action::ScriptOutcome]);
    world.assert_trail_is_whole().await;
}

#[tokio::test]
async fn no_sandbox_names_cause_and_remedy() {
    let world = TestWorld::new(Scripted::exits(0).probing(|| Err(no_sandbox()))).await;
    world.ready().await;
    let refusal = world.belljar.execute(&caller(), call()).await.unwrap_err();
    assert_eq!(refusal.details()["cause"], "missing_program");
    assert!(refusal.message().contains("sudo apt-get install bubblewrap"), "{refusal}");
    assert!(!world.belljar.is_ready());
}

#[tokio::test]
async fn arguments_at_their_limit_pass_and_one_byte_more_does_not() {
    let draft = OptionsDraft { max_argument_bytes: 32, ..options() };
    let world = TestWorld::with(Scripted::exits(0), draft).await;
    world.ready().await;
    let json = |length: usize| format!(r#"{{"é":"{}"}}"#, "x".repeat(length - 9));
    for (arguments, argv, passes) in [
        (Some(json(32)), Vec::new(), true),
        (Some(json(33)), Vec::new(), false),
        (Some(json(30)), vec!["é".to_owned()], true),
        (Some(json(30)), vec!["é".to_owned(), "x".to_owned()], false),
        (None, vec!["é".repeat(16)], true),
        (None, vec!["é".repeat(16), "x".to_owned()], false),
    ] {
        let call = Call { arguments_json: arguments, argv, ..call() };
        let answer = world.belljar.execute(&caller(), call.clone()).await;
        let reason = answer.as_ref().err().and_then(|refusal| refusal.reason().map(str::to_owned));
        assert_eq!(reason.as_deref(), (!passes).then_some("arguments_too_large"), "{call:?}");
    }
}

#[tokio::test]
async fn arguments_must_satisfy_the_declared_schema_and_channel() {
    let world = TestWorld::new(Scripted::exits(0)).await;
    let declaration = r#"
[scripts."scripts/a.sh"]
input = "stdin"
parameters = { type = "object", required = ["environment"], properties = { environment = { enum = ["staging"] } } }
[scripts."scripts/b.sh"]
input = "argv"
"#;
    let files = [("scripts/a.sh", "echo"), ("scripts/b.sh", "echo"), ("belljar.toml", declaration)];
    let saved = world.save(&files).await;
    world.grant(&saved, "*").await;
    let text = |text: &str| Some(text.to_owned());
    for (script, arguments_json, argv, passes) in [
        ("scripts/a.sh", text(r#"{"environment":"staging"}"#), vec![], true),
        ("scripts/a.sh", text(r#"{"environment":"production"}"#), vec![], false),
        ("scripts/a.sh", None, vec![], false),
        ("scripts/a.sh", text(r#"{"environment":"staging"}"#), vec!["x".to_owned()], false),
        // The schema sees the last of two, another reader may take the first.
        ("scripts/a.sh", text(r#"{"environment":"production","environment":"staging"}"#), vec![], false),
        ("scripts/a.sh", text(r#"{"environment":"staging","x":[{"y":1,"\u0079":2}]}"#), vec![], false),
        ("scripts/b.sh", None, vec!["x".to_owned()], true),
        ("scripts/b.sh", text("{}"), vec![], false),
        ("scripts/b.sh", None, vec!["a\0b".to_owned()], false),
    ] {
        let call = Call { script: script.into(), arguments_json, argv, ..call() };
        let answer = world.belljar.execute(&caller(), call.clone()).await;
        let reason = answer.as_ref().err().and_then(|refusal| refusal.reason().map(str::to_owned));
        assert_eq!(reason.as_deref(), (!passes).then_some("arguments_invalid"), "{call:?}");
    }
}

async fn put_grant_of_all(world: &TestWorld) {
    let skill = SkillSelector::Slug(belljar_executor::SkillName::parse("demo").unwrap());
    let pins = world.belljar.pins(&caller(), &skill, None).await.unwrap();
    let request = belljar_core::service::GrantRequest::new(skill, "*", pins.all);
    world.belljar.grant(&caller(), request).await.unwrap();
}

#[tokio::test]
async fn a_denial_stands_when_it_cannot_be_audited() {
    let world = TestWorld::new(Scripted::exits(0)).await;
    world.save(&[("scripts/a.sh", "echo hello")]).await;
    let world = crate::faults::with_failing_audit(world).await;
    let refusal = world.belljar.execute(&caller(), call()).await.unwrap_err();
    assert_eq!(refusal.reason(), Some("grant_missing"));
    // One that no grant would help goes another way to the trail.
    let two = Call { argv: vec!["a\0b".into()], ..call() };
    put_grant_of_all(&world).await;
    assert_eq!(world.belljar.execute(&caller(), two).await.unwrap_err().reason(), Some("arguments_invalid"));
    assert_eq!(world.executor.calls(), 0);
    assert_eq!(world.belljar.meter().audit_swallowed, 2);
    assert!(!world.belljar.is_ready());
}
