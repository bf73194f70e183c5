//! Steps that many clauses take.

use std::future::Future;

use belljar_core::audit::{Action, AuditEntry, Verifier};
use belljar_core::execution::ExecutionRecord;
use belljar_core::grant::Grant;
use belljar_core::ports::{Ports, Stored};
use belljar_core::skill::{RevisionChoice, RevisionDraft, SaveAnswer, Saved};
use belljar_executor::TenantId;

use crate::values::{about, entry_of};

/// Saves and wants it to be saved.
pub(crate) async fn save(ports: &Ports, draft: RevisionDraft) -> Saved {
    let audit = entry_of(&draft.tenant, Action::SkillSave);
    match ports.skills.save(draft, audit).await.unwrap() {
        SaveAnswer::Saved(saved) => *saved,
        refused => panic!("a save without expectation was refused: {refused:?}"),
    }
}

/// Saves and gives the answer.
pub(crate) async fn try_save(ports: &Ports, draft: RevisionDraft) -> SaveAnswer {
    let audit = entry_of(&draft.tenant, Action::SkillSave);
    ports.skills.save(draft, audit).await.unwrap()
}

/// The number of the revision that would run.
pub(crate) async fn current(ports: &Ports, saved: &Saved) -> u32 {
    let (tenant, id) = (&saved.skill.tenant, &saved.skill.id);
    ports.skills.revision(tenant, id, &RevisionChoice::Current).await.unwrap().unwrap().number
}

/// Adds a grant.
pub(crate) async fn add(ports: &Ports, grant: &Grant, replace: bool) -> Grant {
    let audit = entry_of(&grant.tenant, Action::ScriptGrant);
    ports.grants.add(grant.clone(), replace, audit).await.unwrap()
}

/// Opens a run.
pub(crate) async fn open(ports: &Ports, run: &ExecutionRecord) {
    ports.executions.open(run.clone(), about(run, Action::ScriptRun)).await.unwrap();
}

/// Closes a run; whether it was open.
pub(crate) async fn close(ports: &Ports, run: &ExecutionRecord) -> bool {
    ports.executions.close(run.clone(), about(run, Action::ScriptOutcome)).await.unwrap()
}

/// A tenant's whole trail.
pub(crate) async fn trail(ports: &Ports, tenant: &TenantId) -> Vec<AuditEntry> {
    let mut entries = Vec::new();
    loop {
        let after = entries.last().map_or(0, |entry: &AuditEntry| entry.sequence);
        let page = ports.audit.page(tenant, after, 100).await.unwrap();
        // A store that ignores where a page starts would go on for ever.
        if page.first().is_none_or(|first| first.sequence <= after) {
            return entries;
        }
        entries.extend(page);
    }
}

/// The number of entries of a chain that verifies, from the first to the head and the copied one.
pub(crate) async fn verified(ports: &Ports, tenant: &TenantId) -> u64 {
    let head = ports.audit.head(tenant).await.unwrap();
    let copied = ports.audit.copied_heads().await.unwrap().remove(tenant);
    let mut verifier = Verifier::new(copied.into_iter().chain((head.sequence > 0).then_some(head)).collect());
    for entry in trail(ports, tenant).await {
        verifier.take(&entry);
    }
    let verification = verifier.finish(|_| true);
    assert_eq!(verification.fault, None, "the chain of {tenant}");
    assert_eq!(verification.head, head.to_string());
    verification.entries
}

/// What a change answers, and what it appended to the trail of this tenant.
pub(crate) async fn appended<T>(
    ports: &Ports,
    tenant: &TenantId,
    change: impl Future<Output = Stored<T>>,
) -> (T, Vec<AuditEntry>) {
    let before = trail(ports, tenant).await.len();
    let answer = change.await.unwrap();
    let entries = trail(ports, tenant).await.split_off(before);
    (answer, entries)
}
