//! Lists of grants.

use belljar_core::audit::Action;
use belljar_core::grant::Grant;

use crate::Subject;
use crate::reading::add;
use crate::values::{at, entry, grant, script, tenant};

/// All grants are listed newest first, revoked and expired ones, too. A renewed one is as new as its renewal.
pub async fn grants_are_listed_newest_first(subject: &dyn Subject) {
    let ports = subject.open().await;
    let mut given = Vec::new();
    for (pin, moment) in [("one", 12), ("two", 11), ("three", 14), ("four", 13)] {
        let wanted = Grant { granted_at: at(moment), expires_at: Some(at(20)), ..grant(script(), Some(pin)) };
        given.push(add(&ports, &wanted, false).await);
    }
    let list = async || {
        let grants = ports.grants.list(&tenant()).await.unwrap();
        grants.into_iter().map(|grant| grant.id).collect::<Vec<_>>()
    };
    let [one, two, three, four] = [0, 1, 2, 3].map(|at: usize| given[at].id.clone());
    assert_eq!(list().await, [three.clone(), four.clone(), one.clone(), two.clone()]);
    let revoked = std::slice::from_ref(&three);
    ports.grants.revoke(&tenant(), revoked, at(15), entry(Action::ScriptRevoke)).await.unwrap();
    add(&ports, &Grant { granted_at: at(30), ..grant(script(), Some("two")) }, false).await;
    assert_eq!(list().await, [two, three, four, one]);
}
