//! Giving grants, and which of them count.

use belljar_core::grant::{Grant, GrantTarget};
use belljar_core::ids::{GrantId, SkillId};
use belljar_core::ports::Ports;

use crate::Subject;
use crate::reading::add;
use crate::values::{at, entry, grant, granted_skill, path, script, tenant};
use belljar_core::audit::Action;

/// The ids of the grants that count for a script at a moment.
pub(crate) async fn active(ports: &Ports, path_text: &str, moment: i64) -> Vec<GrantId> {
    let found = ports.grants.active(&tenant(), &granted_skill(), &path(path_text), at(moment)).await.unwrap();
    let mut ids: Vec<_> = found.into_iter().map(|grant| grant.id).collect();
    ids.sort();
    ids
}

/// What counts for a script are its own grants and those for `*`, of this skill.
pub async fn active_are_the_scripts_own_grants_and_those_for_all(subject: &dyn Subject) {
    let ports = subject.open().await;
    let own = add(&ports, &grant(script(), Some("one")), false).await;
    let all = add(&ports, &grant(GrantTarget::AllScripts, Some("set")), false).await;
    let other = add(&ports, &grant(GrantTarget::script(&path("scripts/b.py")), Some("b")), false).await;
    add(&ports, &Grant { skill_id: SkillId::new("another"), ..grant(script(), Some("one")) }, false).await;
    assert_eq!(active(&ports, "scripts/a.py", 50).await, [own.id.clone(), all.id.clone()]);
    assert_eq!(active(&ports, "scripts/b.py", 50).await, [all.id.clone(), other.id]);
    assert_eq!(active(&ports, "scripts/c.py", 50).await, [all.id]);
    let stored = ports.grants.active(&tenant(), &granted_skill(), &path("scripts/a.py"), at(50)).await.unwrap();
    assert!(stored.contains(&own));
}

/// A grant that expires exactly now is expired.
pub async fn a_grant_that_expires_now_is_expired(subject: &dyn Subject) {
    let ports = subject.open().await;
    let expiring = Grant { expires_at: Some(at(100)), ..grant(script(), Some("one")) };
    assert_eq!(add(&ports, &expiring, false).await, expiring);
    assert_eq!(active(&ports, "scripts/a.py", 99).await, [expiring.id]);
    assert!(active(&ports, "scripts/a.py", 100).await.is_empty());
    assert!(active(&ports, "scripts/a.py", 101).await.is_empty());
}

/// The key is tenant, skill, target and pin; no pin is a pin of its own. Each key has a grant.
pub async fn another_key_is_another_grant(subject: &dyn Subject) {
    let ports = subject.open().await;
    let keys = [
        grant(script(), Some("one")),
        grant(script(), Some("two")),
        grant(script(), None),
        grant(GrantTarget::AllScripts, Some("one")),
        Grant { skill_id: SkillId::new("another"), ..grant(script(), Some("one")) },
    ];
    for given in &keys {
        assert_eq!(add(&ports, given, false).await, *given);
    }
    for given in keys {
        assert_eq!(ports.grants.get(&tenant(), &given.id).await.unwrap(), Some(given));
    }
    assert_eq!(ports.grants.list(&tenant()).await.unwrap().len(), 5);
    assert_eq!(ports.grants.get(&tenant(), &GrantId::new("none")).await.unwrap(), None);
}

/// The same key renews expiry and actor, clears a revocation and keeps the id; without a pin, too.
pub async fn the_same_key_renews_and_keeps_its_id(subject: &dyn Subject) {
    let ports = subject.open().await;
    for (number, pin) in [Some("pin"), None].into_iter().enumerate() {
        let first = add(&ports, &grant(script(), pin), false).await;
        let ids = std::slice::from_ref(&first.id);
        let revoked = ports.grants.revoke(&tenant(), ids, at(30), entry(Action::ScriptRevoke)).await.unwrap();
        assert_eq!(revoked, [Grant { revoked_at: Some(at(30)), ..first.clone() }]);
        let expires_at = Some(at(90));
        let again = Grant { granted_by: "bob".to_owned(), granted_at: at(40), expires_at, ..grant(script(), pin) };
        let renewed = Grant { id: first.id.clone(), ..again.clone() };
        assert_eq!(add(&ports, &again, false).await, renewed);
        assert_eq!(ports.grants.get(&tenant(), &first.id).await.unwrap(), Some(renewed));
        assert_eq!(ports.grants.get(&tenant(), &again.id).await.unwrap(), None);
        assert_eq!(active(&ports, "scripts/a.py", 50).await.len(), number + 1);
        // Renewed without an expiry, it has none.
        let endless = Grant { expires_at: None, ..again };
        assert_eq!(add(&ports, &endless, false).await, Grant { id: first.id, ..endless });
    }
    assert_eq!(ports.grants.list(&tenant()).await.unwrap().len(), 2);
}

/// Replacing revokes, at the moment of the grant, the active grants of the same target with another pin, and
/// nothing else.
pub async fn replacing_revokes_the_others_of_the_same_target(subject: &dyn Subject) {
    let ports = subject.open().await;
    let old = add(&ports, &grant(script(), Some("old")), false).await;
    let unpinned = add(&ports, &grant(script(), None), false).await;
    let expired = add(&ports, &Grant { expires_at: Some(at(60)), ..grant(script(), Some("expired")) }, false).await;
    let all = add(&ports, &grant(GrantTarget::AllScripts, Some("old")), false).await;
    let elsewhere = Grant { skill_id: SkillId::new("another"), ..grant(script(), Some("old")) };
    add(&ports, &elsewhere, false).await;
    let new = add(&ports, &Grant { granted_at: at(60), ..grant(script(), Some("new")) }, true).await;
    assert_eq!(active(&ports, "scripts/a.py", 60).await, [all.id, new.id.clone()]);
    let revoked_at = async |id: &GrantId| ports.grants.get(&tenant(), id).await.unwrap().unwrap().revoked_at;
    assert_eq!([revoked_at(&old.id).await, revoked_at(&unpinned.id).await], [Some(at(60)); 2]);
    assert_eq!([revoked_at(&expired.id).await, revoked_at(&elsewhere.id).await], [None; 2]);
    // The same key again replaces, too, and stays itself.
    let again = add(&ports, &Grant { granted_at: at(70), ..grant(script(), Some("new")) }, true).await;
    assert_eq!((again.id, again.revoked_at), (new.id, None));
}
