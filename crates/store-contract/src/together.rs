//! A change and its audit entry are made together, or neither is.

use belljar_core::audit::{Action, AuditDraft};
use belljar_core::grant::Grant;
use belljar_core::ports::Ports;
use belljar_core::skill::RevisionDraft;

use crate::Subject;
use crate::furnished::{Furnished, furnish};
use crate::reading::{appended, trail};
use crate::snapshot::Snapshot;
use crate::values::{
    FIRST, THIRD, at, ended, entry, entry_of, entry_with, grant, other_tenant, refusal, revision, run, script, tenant,
};

/// Asks for every change with an entry that cannot stand; gives whether each was refused.
async fn refused(
    ports: &Ports,
    kept: &Furnished,
    entry: &(dyn Fn(Action) -> AuditDraft + Sync),
) -> Vec<(&'static str, bool)> {
    let (tenant, id, other) = (tenant(), &kept.first.skill.id, &kept.second.revision.id);
    let (skills, grants, executions) = (&ports.skills, &ports.grants, &ports.executions);
    let save = || entry(Action::SkillSave);
    let updated = RevisionDraft { publish: true, ..revision("demo", THIRD) };
    let renewed = Grant { granted_at: at(40), expires_at: Some(at(90)), ..grant(script(), Some("pin")) };
    let ids = std::slice::from_ref(&kept.grant.id);
    vec![
        ("save a skill", skills.save(revision("new", FIRST), save()).await.is_err()),
        ("save a revision", skills.save(updated, save()).await.is_err()),
        ("publish", skills.publish(&tenant, id, other, entry(Action::SkillPublish)).await.is_err()),
        ("archive", skills.set_archived(&tenant, id, true, entry(Action::SkillArchive)).await.is_err()),
        ("purge", skills.purge(&tenant, id, entry(Action::SkillPurge)).await.is_err()),
        ("grant", grants.add(grant(script(), Some("new")), true, entry(Action::ScriptGrant)).await.is_err()),
        ("renew", grants.add(renewed, false, entry(Action::ScriptGrant)).await.is_err()),
        ("revoke", grants.revoke(&tenant, ids, at(50), entry(Action::ScriptRevoke)).await.is_err()),
        ("refuse", grants.refuse(refusal("new", 50), entry(Action::ScriptDenied)).await.is_err()),
        ("open", executions.open(run(ports), entry(Action::ScriptRun)).await.is_err()),
        ("close", executions.close(ended(&kept.open), entry(Action::ScriptOutcome)).await.is_err()),
        (
            "cancel",
            executions.request_cancel(&tenant, &kept.open.execution_id, entry(Action::ExecutionCancel)).await.is_err(),
        ),
        ("resume", ports.pauses.set_paused(Some(&tenant), false, entry(Action::ExecutionResume)).await.is_err()),
    ]
}

async fn assert_refused_without_a_trace(subject: &dyn Subject, entry: &(dyn Fn(Action) -> AuditDraft + Sync)) {
    let (ports, reader) = (subject.open().await, subject.open().await);
    let kept = furnish(&ports).await;
    let before = Snapshot::of(&reader).await;
    let made: Vec<_> = refused(&ports, &kept, entry).await.into_iter().filter(|(_, is_refused)| !is_refused).collect();
    assert_eq!(made, [], "these were made all the same");
    for handle in [&ports, &reader] {
        assert_eq!(Snapshot::of(handle).await, before);
        assert!(handle.executions.cancel_requests().await.unwrap().is_empty());
    }
}

/// When its entry cannot be appended, because the id is on the trail already, no change of any port is made.
pub async fn a_change_whose_entry_is_refused_is_not_made(subject: &dyn Subject) {
    let used = {
        let ports = subject.open().await;
        ports.audit.append(entry(Action::AccessDenied)).await.unwrap().audit_id
    };
    assert_refused_without_a_trace(subject, &|action| entry_with(&used, &tenant(), action)).await;
}

/// An entry stands in the chain of the tenant that it tells of: with another tenant's, no change is made.
pub async fn a_change_with_another_tenants_entry_is_not_made(subject: &dyn Subject) {
    assert_refused_without_a_trace(subject, &|action| entry_of(&other_tenant(), action)).await;
}

/// Every change appends its own entry and no other.
pub async fn every_change_appends_its_entry(subject: &dyn Subject) {
    let ports = subject.open().await;
    let kept = furnish(&ports).await;
    let actions: Vec<_> = trail(&ports, &tenant()).await.into_iter().map(|entry| entry.action).collect();
    let furnishing = [
        Action::SkillSave,
        Action::SkillSave,
        Action::ScriptGrant,
        Action::ScriptDenied,
        Action::ScriptRun,
        Action::ScriptRun,
        Action::ScriptOutcome,
        Action::ExecutionPause,
    ];
    assert_eq!(actions, furnishing);
    let (tenant, skill) = (tenant(), &kept.first.skill.id);
    let publish = ports.skills.publish(&tenant, skill, &kept.second.revision.id, entry(Action::SkillPublish));
    assert_one(appended(&ports, &tenant, publish).await.1, Action::SkillPublish);
    for (archived, action) in [(true, Action::SkillArchive), (false, Action::SkillUnarchive)] {
        let change = ports.skills.set_archived(&tenant, skill, archived, entry(action));
        assert_one(appended(&ports, &tenant, change).await.1, action);
    }
    let purge = ports.skills.purge(&tenant, skill, entry(Action::SkillPurge));
    assert_one(appended(&ports, &tenant, purge).await.1, Action::SkillPurge);
    let ids = std::slice::from_ref(&kept.grant.id);
    let revoke = ports.grants.revoke(&tenant, ids, at(50), entry(Action::ScriptRevoke));
    assert_one(appended(&ports, &tenant, revoke).await.1, Action::ScriptRevoke);
    let cancel = ports.executions.request_cancel(&tenant, &kept.open.execution_id, entry(Action::ExecutionCancel));
    assert_one(appended(&ports, &tenant, cancel).await.1, Action::ExecutionCancel);
    let resume = ports.pauses.set_paused(Some(&tenant), false, entry(Action::ExecutionResume));
    assert_one(appended(&ports, &tenant, resume).await.1, Action::ExecutionResume);
}

fn assert_one(entries: Vec<belljar_core::audit::AuditEntry>, action: Action) {
    assert_eq!(entries.into_iter().map(|entry| entry.action).collect::<Vec<_>>(), [action]);
}
