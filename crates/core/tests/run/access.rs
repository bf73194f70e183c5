//! Who may what, and what an answer gives away.

use belljar_core::audit::Action;
use belljar_core::caller::{Caller, Scope};
use belljar_core::code::Code;
use belljar_core::envelope;
use belljar_core::ids::{RevisionId, SkillId};
use belljar_core::run::{Call, SkillSelector};
use belljar_executor::{SkillName, TenantId};

use crate::support::{Scripted, TestWorld, call, caller, tenant};

async fn refused(world: &TestWorld, caller: &Caller, call: Call) -> belljar_core::refusal::Refusal {
    let refusal = world.belljar.execute(caller, call).await.unwrap_err();
    assert_eq!(world.executor.calls(), 0);
    refusal
}

#[tokio::test]
async fn an_id_outside_the_scope_gives_one_answer_whether_it_exists_or_not() {
    let world = TestWorld::new(Scripted::exits(0)).await;
    let saved = world.ready().await;
    let stranger = Caller::authenticated(tenant(), "ben", ["x".into()], Scope::ALL);
    let other_tenant = Caller::authenticated(TenantId::parse("other").unwrap(), "ana", [], Scope::ALL);
    let by_id = |id: &SkillId| Call { skill: SkillSelector::Id(id.clone()), ..call() };
    let mut answers = std::collections::BTreeSet::new();
    for (caller, id) in [
        (&stranger, &saved.skill.id),
        (&stranger, &SkillId::new("nothing")),
        (&other_tenant, &saved.skill.id),
        (&other_tenant, &SkillId::new("nothing")),
    ] {
        let refusal = refused(&world, caller, by_id(id)).await;
        assert_eq!(refusal.code(), Code::AccessDenied);
        answers.insert(envelope::error(&refusal).to_string());
    }
    assert_eq!(answers.len(), 1);
    // One entry for the stranger: the second within ten seconds is not written.
    assert_eq!(world.entries_of(Action::AccessDenied).await.len(), 1);
}

#[tokio::test]
async fn the_order_of_checks_is_the_order_of_errors() {
    let world = TestWorld::new(Scripted::exits(0)).await;
    let saved = world.ready().await;
    let reader = Caller::authenticated(tenant(), "ana", [], [Scope::MemoryRead]);
    let slug = |text: &str| SkillSelector::Slug(SkillName::parse(text).unwrap());
    let unknown = Call { skill: slug("unknown"), ..call() };
    assert_eq!(refused(&world, &reader, unknown.clone()).await.code(), Code::AccessDenied);
    let refusal = refused(&world, &caller(), unknown).await;
    assert_eq!(refusal.code(), Code::SkillNotFound);
    assert_eq!(refusal.details()["candidates"], serde_json::json!(["demo"]));
    let revision = Call { revision: Some(RevisionId::new("nothing")), script: "nothing".into(), ..call() };
    assert_eq!(refused(&world, &caller(), revision).await.code(), Code::RevisionNotFound);
    let refusal = refused(&world, &caller(), Call { script: "scripts/b.sh".into(), ..call() }).await;
    assert_eq!(refusal.code(), Code::ScriptNotFound);
    assert_eq!(refusal.details()["candidates"], serde_json::json!(["scripts/a.sh"]));
    let refusal = refused(&world, &caller(), Call { script: "SKILL.md".into(), ..call() }).await;
    assert_eq!(refusal.code(), Code::InvalidComponentType);
    let both = SkillSelector::Both(saved.skill.id.clone(), SkillName::parse("another").unwrap());
    assert_eq!(refused(&world, &caller(), Call { skill: both, ..call() }).await.code(), Code::InvalidArgument);
}

#[tokio::test]
async fn a_script_runs_by_component_id_too() {
    let world = TestWorld::new(Scripted::exits(0)).await;
    let saved = world.ready().await;
    let (path, _) = saved.revision.manifest.scripts.first_key_value().unwrap();
    let id = belljar_core::skill::ComponentId::of(path).to_string();
    let answer = world.belljar.execute(&caller(), Call { script: id, ..call() }).await.unwrap();
    assert_eq!(answer.record.script_path.as_str(), "scripts/a.sh");
}

#[tokio::test]
async fn another_tenants_execution_is_not_found() {
    let world = TestWorld::new(Scripted::exits(0)).await;
    world.ready().await;
    let id = world.belljar.execute(&caller(), call()).await.unwrap().record.execution_id;
    let other = Caller::authenticated(TenantId::parse("other").unwrap(), "ana", [], Scope::ALL);
    assert_eq!(world.belljar.execution(&other, &id).await.unwrap_err().code(), Code::NotFound);
    assert!(world.belljar.executions(&other, 10).await.unwrap().is_empty());
    let colleague = Caller::authenticated(tenant(), "ben", [], [Scope::MemoryRead]);
    assert_eq!(world.belljar.execution(&colleague, &id).await.unwrap_err().code(), Code::NotFound);
    world.belljar.execution(&caller(), &id).await.unwrap();
}

#[tokio::test]
async fn an_agent_can_neither_grant_nor_read_pins_nor_the_trail() {
    let world = TestWorld::new(Scripted::exits(0)).await;
    let saved = world.ready().await;
    let agent = Caller::authenticated(tenant(), "ana", [], [Scope::MemoryRead, Scope::MemoryWrite]);
    let skill = SkillSelector::Id(saved.skill.id.clone());
    assert_eq!(world.belljar.pins(&agent, &skill, None).await.unwrap_err().code(), Code::AccessDenied);
    assert_eq!(world.belljar.grants(&agent).await.unwrap_err().code(), Code::AccessDenied);
    assert_eq!(world.belljar.audit_page(&agent, 0).await.unwrap_err().code(), Code::AccessDenied);
    assert_eq!(world.belljar.verify_audit(&agent, None).await.unwrap_err().code(), Code::AccessDenied);
    assert_eq!(world.belljar.set_paused(&agent, false, true).await.unwrap_err().code(), Code::AccessDenied);
}
