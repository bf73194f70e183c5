//! Revoking grants.

use belljar_core::audit::Action;
use belljar_core::grant::{Grant, GrantTarget};
use belljar_core::ids::GrantId;

use crate::Subject;
use crate::granting::active;
use crate::reading::{add, appended};
use crate::snapshot::Snapshot;
use crate::values::{at, entry, grant, script, tenant};

/// Revoking answers, in the order they were named, the grants that were active, stamped with the moment.
pub async fn a_revoked_grant_counts_no_more(subject: &dyn Subject) {
    let ports = subject.open().await;
    let tenant = tenant();
    let one = add(&ports, &grant(script(), Some("one")), false).await;
    let two = add(&ports, &grant(GrantTarget::AllScripts, Some("two")), false).await;
    let kept = add(&ports, &grant(script(), Some("three")), false).await;
    let ids = [two.id.clone(), one.id.clone()];
    let change = ports.grants.revoke(&tenant, &ids, at(30), entry(Action::ScriptRevoke));
    let (revoked, entries) = appended(&ports, &tenant, change).await;
    assert_eq!(revoked, [two, one].map(|grant| Grant { revoked_at: Some(at(30)), ..grant }));
    assert_eq!(entries.len(), 1);
    assert_eq!(active(&ports, "scripts/a.py", 20).await, [kept.id], "at no moment");
    for grant in revoked {
        assert_eq!(ports.grants.get(&tenant, &grant.id).await.unwrap(), Some(grant));
    }
}

/// What is revoked or expired already is left out, and keeps its stamp. When nothing is left, nothing is
/// written.
pub async fn only_active_grants_are_revoked(subject: &dyn Subject) {
    let ports = subject.open().await;
    let one = add(&ports, &grant(script(), Some("one")), false).await;
    let expired = Grant { expires_at: Some(at(30)), ..grant(script(), Some("two")) };
    add(&ports, &expired, false).await;
    let ids = [expired.id.clone(), one.id.clone(), GrantId::new("none")];
    let revoke =
        async |moment| ports.grants.revoke(&tenant(), &ids, at(moment), entry(Action::ScriptRevoke)).await.unwrap();
    assert_eq!(revoke(30).await.into_iter().map(|grant| grant.id).collect::<Vec<_>>(), std::slice::from_ref(&one.id));
    let before = Snapshot::of(&ports).await;
    assert!(revoke(40).await.is_empty());
    assert_eq!(Snapshot::of(&ports).await, before);
    let kept = ports.grants.get(&tenant(), &one.id).await.unwrap();
    assert_eq!(kept, Some(Grant { revoked_at: Some(at(30)), ..one }));
    assert_eq!(ports.grants.get(&tenant(), &expired.id).await.unwrap(), Some(expired));
}
