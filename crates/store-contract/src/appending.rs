//! What entries tell that only the store knows.

use belljar_core::audit::Action;
use belljar_core::grant::Grant;
use belljar_core::skill::RevisionDraft;
use serde_json::{Value, json};

use crate::Subject;
use crate::reading::{add, appended, save};
use crate::values::{FIRST, SECOND, at, entry, grant, revision, script, tenant};

fn before(text: Option<&str>) -> Value {
    text.map_or(Value::Null, |text| serde_json::from_str(text).unwrap())
}

/// The entry of a save names the revision and whether it was published; that of a publication, what was
/// published before. What was drafted stays.
pub async fn an_entry_of_a_skill_tells_what_was_stored(subject: &dyn Subject) {
    let ports = subject.open().await;
    let tenant = tenant();
    let first = save(&ports, revision("demo", FIRST)).await;
    let saving = RevisionDraft { publish: true, ..revision("demo", SECOND) };
    let id = saving.new_revision_id.clone();
    let (_, entries) = appended(&ports, &tenant, ports.skills.save(saving, entry(Action::SkillSave))).await;
    assert_eq!(entries[0].facts(), json!({"a": [2], "b": 1, "publish": true, "revision_id": id}));
    let back = RevisionDraft { publish: true, ..revision("demo", FIRST) };
    let (_, entries) = appended(&ports, &tenant, ports.skills.save(back, entry(Action::SkillSave))).await;
    assert_eq!(entries[0].facts()["revision_id"], json!(first.revision.id), "the one that was there");
    let publish = ports.skills.publish(&tenant, &first.skill.id, &id, entry(Action::SkillPublish));
    let (_, entries) = appended(&ports, &tenant, publish).await;
    assert_eq!(before(entries[0].before.as_deref()), json!({"published": first.revision.id}));
    assert_eq!(entries[0].facts(), json!({"a": [2], "b": 1}));
}

/// The entry of a grant holds the grant as stored, what it was before, and the ids of those it replaced; that
/// of a revocation names what it revoked.
pub async fn an_entry_of_a_grant_tells_what_was_stored(subject: &dyn Subject) {
    let ports = subject.open().await;
    let tenant = tenant();
    let old = add(&ports, &grant(script(), Some("old")), false).await;
    let new = grant(script(), Some("new"));
    let adding = ports.grants.add(new.clone(), true, entry(Action::ScriptGrant));
    let (new, entries) = (new, appended(&ports, &tenant, adding).await.1);
    assert_eq!(entries[0].facts(), json!({"a": [2], "b": 1, "grant": new, "replaced": [old.id]}));
    assert_eq!(entries[0].before, None);
    let again = Grant { granted_at: at(40), ..grant(script(), Some("new")) };
    let (renewed, entries) =
        appended(&ports, &tenant, ports.grants.add(again, false, entry(Action::ScriptGrant))).await;
    assert_eq!(entries[0].facts()["grant"], json!(renewed));
    assert_eq!(before(entries[0].before.as_deref()), json!(new));
    let ids = [old.id, new.id.clone()];
    let revoking = ports.grants.revoke(&tenant, &ids, at(50), entry(Action::ScriptRevoke));
    let (_, entries) = appended(&ports, &tenant, revoking).await;
    assert_eq!(entries[0].facts()["revoked"], json!([new.id]));
}
