use belljar_core::audit::Action;
use belljar_core::grant::{Grant, GrantTarget};
use belljar_core::ids::{GrantId, SkillId};
use belljar_core::ports::Grants;
use belljar_store::Store;

use crate::world::{assert_valid, at, draft, folder, grant, open, other_tenant, path, tenant};

async fn add(store: &Store, grant: &Grant, replace: bool) -> Grant {
    store.add(grant.clone(), replace, draft(Action::ScriptGrant)).await.unwrap()
}

async fn active(store: &Store, script: &str, now: i64) -> Vec<GrantId> {
    let found = store.active(&tenant(), &SkillId::new("skill"), &path(script), at(now)).await.unwrap();
    assert!(found.iter().all(|grant| grant.is_active(at(now))));
    let mut ids: Vec<_> = found.into_iter().map(|grant| grant.id).collect();
    ids.sort();
    ids
}

fn script() -> GrantTarget {
    GrantTarget::script(&path("scripts/a.py"))
}

#[tokio::test]
async fn active_are_those_of_the_script_and_of_all_scripts() {
    let folder = folder();
    let store = open(folder.path()).await;
    let one = add(&store, &grant(script(), Some("one")), false).await;
    let all = add(&store, &grant(GrantTarget::AllScripts, Some("set")), false).await;
    let other = GrantTarget::script(&path("scripts/b.py"));
    let expiring = Grant { expires_at: Some(at(100)), ..grant(other, Some("b")) };
    assert_eq!(add(&store, &expiring, false).await, expiring);
    assert_eq!(active(&store, "scripts/a.py", 50).await, [one.id.clone(), all.id.clone()]);
    assert_eq!(active(&store, "scripts/b.py", 99).await, [all.id.clone(), expiring.id.clone()]);
    assert_eq!(active(&store, "scripts/b.py", 100).await, [all.id], "one that expires now is expired");
    let elsewhere = store.active(&other_tenant(), &SkillId::new("skill"), &path("scripts/a.py"), at(50)).await;
    assert!(elsewhere.unwrap().is_empty());
    assert_eq!(store.get(&other_tenant(), &one.id).await.unwrap(), None);
    assert_eq!(store.get(&tenant(), &one.id).await.unwrap(), Some(one));
    assert_eq!(store.list(&tenant()).await.unwrap().len(), 3);
}

#[tokio::test]
async fn the_same_key_renews_and_keeps_the_id() {
    let folder = folder();
    let store = open(folder.path()).await;
    for pin in [Some("pin"), None] {
        let first = add(&store, &grant(script(), pin), false).await;
        let revoked = store
            .revoke(&tenant(), std::slice::from_ref(&first.id), at(30), draft(Action::ScriptRevoke))
            .await
            .unwrap();
        assert_eq!(revoked[0].revoked_at, Some(at(30)));
        let again = Grant {
            granted_by: "bob".to_owned(),
            granted_at: at(40),
            expires_at: Some(at(90)),
            ..grant(script(), pin)
        };
        let renewed = add(&store, &again, false).await;
        assert_eq!(renewed, Grant { id: first.id, ..again });
    }
    assert_eq!(store.list(&tenant()).await.unwrap().len(), 2);
    assert_eq!(assert_valid(&store, &tenant()).await, 6);
}

#[tokio::test]
async fn replacing_revokes_the_others_of_the_same_target() {
    let folder = folder();
    let store = open(folder.path()).await;
    let old = add(&store, &grant(script(), Some("old")), false).await;
    let unpinned = add(&store, &grant(script(), None), false).await;
    let all = add(&store, &grant(GrantTarget::AllScripts, Some("old")), false).await;
    let new = Grant { granted_at: at(60), ..grant(script(), Some("new")) };
    add(&store, &new, true).await;
    assert_eq!(active(&store, "scripts/a.py", 60).await, [all.id, new.id]);
    for id in [old.id, unpinned.id] {
        assert_eq!(store.get(&tenant(), &id).await.unwrap().unwrap().revoked_at, Some(at(60)));
    }
}

#[tokio::test]
async fn revoking_answers_those_that_were_active_and_writes_nothing_when_none_was() {
    let folder = folder();
    let store = open(folder.path()).await;
    let one = add(&store, &grant(script(), Some("one")), false).await;
    let expired = Grant { expires_at: Some(at(20)), ..grant(script(), Some("two")) };
    add(&store, &expired, false).await;
    let ids = [expired.id.clone(), one.id.clone(), GrantId::new("unknown")];
    let revoked = store.revoke(&tenant(), &ids, at(30), draft(Action::ScriptRevoke)).await.unwrap();
    assert_eq!(revoked.iter().map(|grant| &grant.id).collect::<Vec<_>>(), [&one.id]);
    let again = store.revoke(&tenant(), &ids, at(40), draft(Action::ScriptRevoke)).await.unwrap();
    assert!(again.is_empty());
    assert_eq!(store.get(&tenant(), &one.id).await.unwrap().unwrap().revoked_at, Some(at(30)));
    assert_eq!(assert_valid(&store, &tenant()).await, 3, "no entry of the second revocation");
}
