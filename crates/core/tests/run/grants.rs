//! Grants and pins through the service.

use belljar_core::audit::Action;
use belljar_core::caller::{Caller, Scope};
use belljar_core::code::Code;
use belljar_core::options::OptionsDraft;
use belljar_core::ports::Clock;
use belljar_core::run::{Call, SkillSelector};
use belljar_core::service::{GrantRequest, Revocation, SaveRequest};
use belljar_core::skill::{Saved, Strictness, from_files};
use belljar_executor::{Digest, LogicalPath};

use crate::support::{Scripted, TestWorld, call, caller, options, tenant};

async fn run(world: &TestWorld, saved: &Saved, script: &str) -> Result<(), String> {
    let call = Call {
        skill: SkillSelector::Id(saved.skill.id.clone()),
        revision: Some(saved.revision.id.clone()),
        script: script.into(),
        ..call()
    };
    let answer = world.belljar.execute(&caller(), call).await;
    answer.map(drop).map_err(|refusal| refusal.reason().unwrap_or(refusal.code().as_str()).to_owned())
}

fn request(saved: &Saved, pin: Digest) -> GrantRequest {
    GrantRequest {
        skill: SkillSelector::Id(saved.skill.id.clone()),
        revision: Some(saved.revision.id.clone()),
        target: "scripts/a.sh".into(),
        expected_pin: pin,
        expires_at: None,
        replace: false,
    }
}

async fn pin_of(world: &TestWorld, saved: &Saved) -> Digest {
    let skill = SkillSelector::Id(saved.skill.id.clone());
    let pins = world.belljar.pins(&caller(), &skill, Some(&saved.revision.id)).await.unwrap();
    pins.scripts[&LogicalPath::parse("scripts/a.sh").unwrap()].pin
}

#[tokio::test]
async fn one_byte_in_the_script_or_in_a_sibling_closes_the_gate() {
    let world = TestWorld::new(Scripted::exits(0)).await;
    let first = world.save(&[("scripts/a.sh", "echo 1"), ("data.txt", "x")]).await;
    world.grant(&first, "scripts/a.sh").await;
    assert_eq!(run(&world, &first, "scripts/a.sh").await, Ok(()));
    for changed in [[("scripts/a.sh", "echo 2"), ("data.txt", "x")], [("scripts/a.sh", "echo 1"), ("data.txt", "y")]] {
        let changed = world.save(&changed).await;
        assert_eq!(run(&world, &changed, "scripts/a.sh").await, Err("content_changed".into()));
    }
    // The approved revision still runs.
    assert_eq!(run(&world, &first, "scripts/a.sh").await, Ok(()));
}

#[tokio::test]
async fn an_operator_learns_which_files_changed_and_an_agent_does_not() {
    let world = TestWorld::new(Scripted::exits(0)).await;
    let first = world.save(&[("scripts/a.sh", "echo"), ("data.txt", "x")]).await;
    world.grant(&first, "scripts/a.sh").await;
    world.save(&[("scripts/a.sh", "echo"), ("data.txt", "y"), ("new.txt", "n")]).await;
    let refusal = world.belljar.execute(&caller(), call()).await.unwrap_err();
    assert_eq!(refusal.details()["changed_files"], serde_json::json!(["data.txt", "new.txt"]));
    let agent = Caller::authenticated(tenant(), "ana", [], [Scope::MemoryWrite]);
    let refusal = world.belljar.execute(&agent, call()).await.unwrap_err();
    assert_eq!(refusal.reason(), Some("content_changed"));
    assert!(!refusal.details().contains_key("changed_files"));
}

#[tokio::test]
async fn granting_needs_the_pin_that_was_seen_and_does_not_tell_the_current_one() {
    let world = TestWorld::new(Scripted::exits(0)).await;
    let saved = world.save(&[("scripts/a.sh", "echo")]).await;
    let current = pin_of(&world, &saved).await;
    let before = world.entries().await.len();
    let refusal = world.belljar.grant(&caller(), request(&saved, Digest::of(b"other"))).await.unwrap_err();
    assert_eq!(refusal.code(), Code::Conflict);
    let said = belljar_core::envelope::error(&refusal).to_string();
    assert!(!said.to_ascii_uppercase().contains(&current.to_string()), "{said}");
    assert_eq!(world.entries().await.len(), before);
    assert!(world.belljar.grants(&caller()).await.unwrap().is_empty());
}

/// A name is revoked whatever hides behind it: the skill of a team under one of the caller's own.
#[tokio::test]
async fn revoking_by_name_revokes_what_the_name_hides_too() {
    let world = TestWorld::new(Scripted::exits(0)).await;
    let member = Caller::authenticated(tenant(), "ana", ["ops".to_owned()], Scope::ALL);
    let files = [("SKILL.md", &b"---\nname: demo\ndescription: D.\n---\n"[..]), ("scripts/a.sh", b"echo team")];
    let read = from_files(files, Strictness::Strict).unwrap();
    let team = SaveRequest { team: Some("ops".into()), ..SaveRequest::new(read.manifest, read.files) };
    let team = world.belljar.save_skill(&member, team).await.unwrap();
    let by_id = SkillSelector::Id(team.skill.id.clone());
    let pins = world.belljar.pins(&member, &by_id, None).await.unwrap();
    let pin = pins.scripts.values().next().unwrap().pin;
    world.belljar.grant(&member, GrantRequest::new(by_id.clone(), "scripts/a.sh", pin)).await.unwrap();
    // The same name, the caller's own, in front of it; and nobody in the team asks.
    world.ready().await;
    let slug = SkillSelector::Slug(belljar_executor::SkillName::parse("demo").unwrap());
    let revoked = world.belljar.revoke(&caller(), Revocation::Target(slug, None)).await.unwrap();
    assert_eq!(revoked.len(), 2);
    let refusal = world.belljar.execute(&member, Call { skill: by_id, ..call() }).await.unwrap_err();
    assert_eq!(refusal.reason(), Some("grant_missing"));
}

/// In a grant `*` means all scripts, so no script can be called that.
#[tokio::test]
async fn a_script_cannot_have_the_name_that_means_all_of_them() {
    let index = b"---\nname: demo\ndescription: D.\n---\n";
    let files = [("SKILL.md", &index[..]), ("*", b"#!/bin/sh"), ("belljar.toml", b"[scripts.\"*\"]\n")];
    let problems = from_files(files, Strictness::Lenient).unwrap_err();
    assert!(problems.iter().any(|problem| problem.to_string().contains("all scripts")), "{problems:?}");
}

#[tokio::test]
async fn a_grant_that_expires_exactly_now_is_expired() {
    let world = TestWorld::new(Scripted::exits(0)).await;
    let saved = world.save(&[("scripts/a.sh", "echo")]).await;
    let pin = pin_of(&world, &saved).await;
    let expires_at = Some(world.clock.now().after(std::time::Duration::from_secs(10)));
    world.belljar.grant(&caller(), GrantRequest { expires_at, ..request(&saved, pin) }).await.unwrap();
    world.clock.advance_seconds(9);
    assert_eq!(run(&world, &saved, "scripts/a.sh").await, Ok(()));
    world.clock.advance_seconds(1);
    assert_eq!(run(&world, &saved, "scripts/a.sh").await, Err("grant_missing".into()));
    let past = GrantRequest { expires_at: Some(world.clock.now()), ..request(&saved, pin) };
    assert_eq!(world.belljar.grant(&caller(), past).await.unwrap_err().code(), Code::InvalidArgument);
}

#[tokio::test]
async fn granting_again_renews_and_clears_a_revocation() {
    let world = TestWorld::new(Scripted::exits(0)).await;
    let saved = world.save(&[("scripts/a.sh", "echo")]).await;
    let grant = world.grant(&saved, "scripts/a.sh").await;
    let revoked = world.belljar.revoke(&caller(), Revocation::Id(grant.id.clone())).await.unwrap();
    assert_eq!(revoked.len(), 1);
    assert_eq!(run(&world, &saved, "scripts/a.sh").await, Err("grant_missing".into()));
    let again = world.belljar.revoke(&caller(), Revocation::Id(grant.id.clone())).await;
    assert_eq!(again.unwrap_err().code(), Code::NotFound);
    assert_eq!(world.grant(&saved, "scripts/a.sh").await.id, grant.id);
    assert_eq!(run(&world, &saved, "scripts/a.sh").await, Ok(()));
    assert_eq!(world.belljar.grants(&caller()).await.unwrap().len(), 1);
    assert_eq!(world.entries_of(Action::ScriptRevoke).await.len(), 1);
}

#[tokio::test]
async fn a_wide_grant_opens_every_script_until_any_of_them_changes() {
    let world = TestWorld::new(Scripted::exits(0)).await;
    let saved = world.save(&[("scripts/a.sh", "echo a"), ("scripts/b.sh", "echo b")]).await;
    world.grant(&saved, "*").await;
    assert_eq!(run(&world, &saved, "scripts/a.sh").await, Ok(()));
    assert_eq!(run(&world, &saved, "scripts/b.sh").await, Ok(()));
    let more = world.save(&[("scripts/a.sh", "echo a"), ("scripts/b.sh", "echo b"), ("scripts/c.sh", "c")]).await;
    assert_eq!(run(&world, &more, "scripts/a.sh").await, Err("content_changed".into()));
}

#[tokio::test]
async fn a_stale_grant_of_its_own_hides_the_wide_one() {
    let world = TestWorld::new(Scripted::exits(0)).await;
    let old = world.save(&[("scripts/a.sh", "echo old")]).await;
    let own = world.grant(&old, "scripts/a.sh").await;
    let new = world.save(&[("scripts/a.sh", "echo new")]).await;
    world.grant(&new, "*").await;
    assert_eq!(run(&world, &new, "scripts/a.sh").await, Err("content_changed".into()));
    world.belljar.revoke(&caller(), Revocation::Id(own.id)).await.unwrap();
    assert_eq!(run(&world, &new, "scripts/a.sh").await, Ok(()));
}

#[tokio::test]
async fn replacing_revokes_the_others_of_the_same_script() {
    let world = TestWorld::new(Scripted::exits(0)).await;
    let old = world.save(&[("scripts/a.sh", "echo old")]).await;
    world.grant(&old, "scripts/a.sh").await;
    let new = world.save(&[("scripts/a.sh", "echo new")]).await;
    let pin = pin_of(&world, &new).await;
    world.belljar.grant(&caller(), GrantRequest { replace: true, ..request(&new, pin) }).await.unwrap();
    assert_eq!(run(&world, &new, "scripts/a.sh").await, Ok(()));
    assert_eq!(run(&world, &old, "scripts/a.sh").await, Err("content_changed".into()));
}

#[tokio::test]
async fn another_interpreter_under_the_same_grant_is_a_change() {
    let world = TestWorld::new(Scripted::exits(0)).await;
    let saved = world.ready().await;
    let mut draft = options();
    draft.interpreters.insert("sh".into(), "/usr/bin/dash".into());
    let world = world.reopened(draft).await;
    assert_eq!(run(&world, &saved, "scripts/a.sh").await, Err("content_changed".into()));
}

#[tokio::test]
async fn a_script_whose_language_is_not_allowed_cannot_be_granted() {
    let mut draft = options();
    draft.interpreters.remove("sh");
    let world = TestWorld::with(Scripted::exits(0), draft).await;
    let saved = world.save(&[("scripts/a.sh", "echo")]).await;
    let pin = pin_of(&world, &saved).await;
    let refusal = world.belljar.grant(&caller(), request(&saved, pin)).await.unwrap_err();
    assert_eq!(refusal.reason(), Some("interpreter_not_allowed"));
    assert!(world.belljar.grants(&caller()).await.unwrap().is_empty());
}

#[tokio::test]
async fn between_tenants_granting_needs_platform_authority() {
    let world = TestWorld::with(Scripted::exits(0), OptionsDraft { multi_tenant: true, ..options() }).await;
    let saved = world.save(&[("scripts/a.sh", "echo")]).await;
    let pin = pin_of(&world, &saved).await;
    let operator = Caller::authenticated(tenant(), "ana", [], [Scope::SkillsGrant, Scope::MemoryWrite]);
    let refusal = world.belljar.grant(&operator, request(&saved, pin)).await.unwrap_err();
    assert_eq!(refusal.code(), Code::AccessDenied);
    world.belljar.grant(&caller(), request(&saved, pin)).await.unwrap();
}
