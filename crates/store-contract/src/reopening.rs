//! What was acknowledged is there, for this process, the next one and the one after a restart.

use belljar_core::audit::Action;
use belljar_core::ports::Ports;
use belljar_core::skill::RevisionDraft;

use crate::Subject;
use crate::furnished::{Furnished, furnish};
use crate::reading::{add, close, save, verified};
use crate::snapshot::Snapshot;
use crate::values::{FIRST, at, ended, entry, grant, refusal, revision, script, tenant};

/// Another handle sees everything that was acknowledged to the first, at once and after that one's end.
pub async fn what_was_acknowledged_is_seen_by_every_handle(subject: &dyn Subject) {
    let ports = subject.open().await;
    furnish(&ports).await;
    let seen = Snapshot::of(&ports).await;
    let entries = verified(&ports, &tenant()).await;
    assert_eq!(Snapshot::of(&subject.open().await).await, seen);
    subject.end(ports).await;
    let reopened = subject.open().await;
    assert_eq!(Snapshot::of(&reopened).await, seen);
    assert_eq!(verified(&reopened, &tenant()).await, entries);
    assert_eq!(reopened.audit.tenants().await.unwrap(), [tenant()]);
}

/// One change of every kind, each acknowledged.
async fn change_everything(ports: &Ports, kept: &Furnished) {
    let (tenant, skill) = (tenant(), &kept.first.skill.id);
    let (skills, grants) = (&ports.skills, &ports.grants);
    save(ports, RevisionDraft { publish: true, ..revision("later", FIRST) }).await;
    skills.publish(&tenant, skill, &kept.second.revision.id, entry(Action::SkillPublish)).await.unwrap();
    skills.set_archived(&tenant, skill, true, entry(Action::SkillArchive)).await.unwrap();
    add(ports, &grant(script(), Some("later")), true).await;
    grants.refuse(refusal("other pin", 40), entry(Action::ScriptDenied)).await.unwrap();
    let later = grants.list(&tenant).await.unwrap().remove(0).id;
    grants.revoke(&tenant, &[later], at(41), entry(Action::ScriptRevoke)).await.unwrap();
    assert!(close(ports, &ended(&kept.open)).await);
    ports.pauses.set_paused(Some(&tenant), false, entry(Action::ExecutionResume)).await.unwrap();
}

/// A handle that was open before sees what another one changed since, and the chain goes on from there.
pub async fn a_handle_sees_what_others_changed_since(subject: &dyn Subject) {
    let (ports, other) = (subject.open().await, subject.open().await);
    let kept = furnish(&ports).await;
    let before = Snapshot::of(&other).await;
    change_everything(&other, &kept).await;
    let after = Snapshot::of(&other).await;
    assert_ne!(after, before);
    assert_eq!(Snapshot::of(&ports).await, after);
    let entries = verified(&ports, &tenant()).await;
    ports.audit.append(entry(Action::AccessDenied)).await.unwrap();
    assert_eq!(verified(&other, &tenant()).await, entries + 1);
    let skill = &kept.first.skill.id;
    assert!(ports.skills.purge(&tenant(), skill, entry(Action::SkillPurge)).await.unwrap());
    assert_eq!(other.skills.find_by_id(&tenant(), skill).await.unwrap(), None);
}
