//! Tenants are apart, in every port and both ways.

use belljar_core::audit::{Action, Head};
use belljar_core::execution::ExecutionRecord;
use belljar_core::grant::{Grant, PendingGrant};
use belljar_core::skill::{RevisionChoice, RevisionDraft};

use crate::Subject;
use crate::furnished::furnish;
use crate::reading::{add, close, open, save, trail, verified};
use crate::snapshot::Snapshot;
use crate::values::{
    FIRST, about, at, ended, entry_of, grant, granted_skill, other_tenant, owner, path, pin, refusal, revision, run,
    script, slug, tenant,
};

/// A skill, its revisions and its files are found in their tenant alone.
pub async fn skills_of_another_tenant_are_not_read(subject: &dyn Subject) {
    let ports = subject.open().await;
    let kept = furnish(&ports).await;
    let (skills, other, id) = (&ports.skills, other_tenant(), &kept.first.skill.id);
    assert_eq!(skills.find_by_slug(&other, &[owner()], &slug("demo")).await.unwrap(), None);
    assert_eq!(skills.find_by_id(&other, id).await.unwrap(), None);
    assert!(skills.list(&other, &[owner()]).await.unwrap().is_empty());
    let exact = RevisionChoice::Exact(kept.first.revision.id.clone());
    for choice in [exact, RevisionChoice::Current] {
        assert_eq!(skills.revision(&other, id, &choice).await.unwrap(), None);
    }
    assert!(skills.revisions(&other, id).await.unwrap().is_empty());
    assert!(skills.files(&other, &kept.first.revision.id).await.is_err());
}

/// A skill is published, archived and purged by its tenant alone.
pub async fn skills_of_another_tenant_are_not_changed(subject: &dyn Subject) {
    let ports = subject.open().await;
    let kept = furnish(&ports).await;
    let before = Snapshot::of(&ports).await;
    let (skills, other, id) = (&ports.skills, other_tenant(), &kept.first.skill.id);
    let audit = |action| entry_of(&other, action);
    let publish = skills.publish(&other, id, &kept.second.revision.id, audit(Action::SkillPublish));
    assert_eq!(publish.await.unwrap(), None);
    assert!(!skills.set_archived(&other, id, true, audit(Action::SkillArchive)).await.unwrap());
    assert!(!skills.purge(&other, id, audit(Action::SkillPurge)).await.unwrap());
    assert_eq!(Snapshot::of(&ports).await, before);
}

/// The same owner's same name with the same files is another skill in another tenant, and outlives the first.
pub async fn the_same_name_is_another_skill_in_another_tenant(subject: &dyn Subject) {
    let ports = subject.open().await;
    let mine = save(&ports, revision("demo", FIRST)).await;
    let theirs = save(&ports, RevisionDraft { tenant: other_tenant(), ..revision("demo", FIRST) }).await;
    assert!(theirs.is_new && theirs.revision.number == 1);
    assert_ne!(theirs.skill.id, mine.skill.id);
    let purge = entry_of(&tenant(), Action::SkillPurge);
    assert!(ports.skills.purge(&tenant(), &mine.skill.id, purge).await.unwrap());
    let found = ports.skills.find_by_slug(&other_tenant(), &[owner()], &slug("demo")).await.unwrap();
    assert_eq!(found, Some(theirs.skill));
    let files = ports.skills.files(&other_tenant(), &theirs.revision.id).await.unwrap();
    assert_eq!(files.len(), FIRST.len());
    let trails = [trail(&ports, &tenant()).await.len(), trail(&ports, &other_tenant()).await.len()];
    assert_eq!(trails, [2, 1]);
}

/// Grants and refusals are read, and grants revoked and replaced, in their tenant alone. The same key is
/// another grant in another tenant.
pub async fn grants_of_another_tenant_are_neither_read_nor_changed(subject: &dyn Subject) {
    let ports = subject.open().await;
    let kept = furnish(&ports).await;
    let (grants, other) = (&ports.grants, other_tenant());
    let active = grants.active(&other, &granted_skill(), &path("scripts/a.py"), at(50)).await.unwrap();
    assert!(active.is_empty());
    assert_eq!(grants.get(&other, &kept.grant.id).await.unwrap(), None);
    assert!(grants.list(&other).await.unwrap().is_empty());
    assert!(grants.pending(&other, at(50)).await.unwrap().is_empty());
    let before = Snapshot::of(&ports).await;
    let ids = std::slice::from_ref(&kept.grant.id);
    let revoked = grants.revoke(&other, ids, at(50), entry_of(&other, Action::ScriptRevoke)).await.unwrap();
    assert!(revoked.is_empty());
    assert_eq!(Snapshot::of(&ports).await, before);
    for (pinned, replace) in [("pin", false), ("other pin", true)] {
        let theirs = Grant { tenant: other.clone(), ..grant(script(), Some(pinned)) };
        assert_eq!(add(&ports, &theirs, replace).await, theirs);
    }
    let theirs = PendingGrant { tenant: other.clone(), ..refusal("third pin", 40) };
    grants.refuse(theirs.clone(), entry_of(&other, Action::ScriptDenied)).await.unwrap();
    assert_eq!(grants.list(&tenant()).await.unwrap(), [kept.grant]);
    let pins = grants.pending(&tenant(), at(50)).await.unwrap().into_iter().map(|pending| pending.pin);
    assert_eq!(pins.collect::<Vec<_>>(), [pin("other pin")], "another tenant's grant covers nothing here");
    assert_eq!(grants.pending(&other, at(50)).await.unwrap(), [theirs]);
}

/// Runs are read, closed and asked to be cancelled in their tenant alone.
pub async fn runs_of_another_tenant_are_neither_read_nor_changed(subject: &dyn Subject) {
    let ports = subject.open().await;
    let kept = furnish(&ports).await;
    let (executions, other) = (&ports.executions, other_tenant());
    for run in [&kept.open, &kept.closed] {
        assert_eq!(executions.get(&other, &run.execution_id).await.unwrap(), None);
    }
    assert!(executions.list(&other, 9).await.unwrap().is_empty());
    assert!(executions.running(&other).await.unwrap().is_empty());
    let before = Snapshot::of(&ports).await;
    assert!(!close(&ports, &ExecutionRecord { tenant: other.clone(), ..ended(&kept.open) }).await);
    let audit = entry_of(&other, Action::ExecutionCancel);
    assert!(!executions.request_cancel(&other, &kept.open.execution_id, audit).await.unwrap());
    assert_eq!(Snapshot::of(&ports).await, before);
    assert!(executions.cancel_requests().await.unwrap().is_empty());
}

/// The trail of a tenant has its entries alone, and grows with its changes alone.
pub async fn trails_of_tenants_are_apart(subject: &dyn Subject) {
    let ports = subject.open().await;
    furnish(&ports).await;
    let other = other_tenant();
    assert!(ports.audit.page(&other, 0, 100).await.unwrap().is_empty());
    assert_eq!(ports.audit.head(&other).await.unwrap(), Head::GENESIS);
    let before = trail(&ports, &tenant()).await;
    let theirs = ExecutionRecord { tenant: other.clone(), ..run(&ports) };
    open(&ports, &theirs).await;
    let closing = ports.executions.close(ended(&theirs), about(&theirs, Action::ScriptOutcome));
    assert!(closing.await.unwrap());
    assert_eq!(verified(&ports, &other).await, 2);
    assert_eq!(trail(&ports, &tenant()).await, before);
    assert_eq!(verified(&ports, &tenant()).await, before.len() as u64);
}
