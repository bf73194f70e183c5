//! Refusals for want of a grant.

use belljar_core::audit::Action;
use belljar_core::grant::{Grant, PendingGrant};
use belljar_core::ids::{PendingId, RevisionId};
use belljar_core::ports::Ports;

use crate::Subject;
use crate::reading::{add, appended};
use crate::values::{at, entry, grant, refusal, script, tenant};

async fn refuse(ports: &Ports, pending: &PendingGrant) {
    let change = ports.grants.refuse(pending.clone(), entry(Action::ScriptDenied));
    let ((), entries) = appended(ports, &tenant(), change).await;
    assert_eq!(entries.len(), 1, "every refusal is on the trail");
}

async fn waiting(ports: &Ports, moment: i64) -> Vec<PendingId> {
    let pending = ports.grants.pending(&tenant(), at(moment)).await.unwrap();
    pending.into_iter().map(|pending| pending.id).collect()
}

/// The same script at the same pin is counted; who asked last, why, and when are kept, and the first moment.
pub async fn refusals_are_counted_and_listed_latest_first(subject: &dyn Subject) {
    let ports = subject.open().await;
    let (one, two) = (refusal("one", 30), refusal("two", 40));
    for pending in [&one, &two] {
        refuse(&ports, pending).await;
    }
    assert_eq!(ports.grants.pending(&tenant(), at(50)).await.unwrap(), [two.clone(), one.clone()]);
    let again = PendingGrant {
        revision_id: Some(RevisionId::new("later")),
        reason: "content_changed".to_owned(),
        asked_by: "bob".to_owned(),
        ..refusal("one", 60)
    };
    refuse(&ports, &again).await;
    let counted = PendingGrant { asked: 2, first_at: at(30), ..again };
    assert_eq!(ports.grants.pending(&tenant(), at(70)).await.unwrap(), [counted, two]);
}

/// What was refused waits no more once it is granted; again, once that grant counts no more.
pub async fn what_is_granted_is_not_pending(subject: &dyn Subject) {
    let ports = subject.open().await;
    let (one, two) = (refusal("one", 30), refusal("two", 40));
    for pending in [&one, &two] {
        refuse(&ports, pending).await;
    }
    let given = Grant { expires_at: Some(at(100)), ..grant(script(), Some("one")) };
    add(&ports, &given, false).await;
    assert_eq!(waiting(&ports, 99).await, std::slice::from_ref(&two.id), "another pin still waits");
    assert_eq!(waiting(&ports, 100).await, [two.id.clone(), one.id.clone()], "expired");
    add(&ports, &Grant { expires_at: None, ..given.clone() }, false).await;
    assert_eq!(waiting(&ports, 100).await, std::slice::from_ref(&two.id));
    let ids = [given.id];
    ports.grants.revoke(&tenant(), &ids, at(110), entry(Action::ScriptRevoke)).await.unwrap();
    assert_eq!(waiting(&ports, 120).await, [two.id, one.id], "revoked");
}
