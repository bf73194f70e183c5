//! What tests share: a store in a folder that goes away, and values of every kind.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use belljar_core::audit::{Action, AuditDraft, AuditEntry, Verification, Verifier};
use belljar_core::execution::{ExecutionRecord, Status};
use belljar_core::ids::{AuditId, GrantId, OwnerId, RevisionId, SkillId};
use belljar_core::ports::Audit;
use belljar_core::time::Timestamp;
use belljar_executor::{Digest, ExecutionId, LogicalPath, Origin, SkillName, TenantId};
use belljar_store::{Store, StoreOptions};
use serde_json::{Value, json};
use tempfile::TempDir;

/// An id that no other process and no other call gets.
pub(crate) fn fresh(kind: &str) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("{kind}-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

pub(crate) fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

pub(crate) async fn open(folder: &Path) -> Store {
    open_as(folder, &fresh("owner")).await
}

pub(crate) async fn open_as(folder: &Path, owner: &str) -> Store {
    Store::open_as(StoreOptions::new(folder), OwnerId::new(owner)).await.unwrap()
}

/// A store that gives up soon when another connection holds the lock.
pub(crate) async fn open_impatient(folder: &Path) -> Store {
    let options = StoreOptions { busy_timeout: Duration::from_millis(100), ..StoreOptions::new(folder) };
    Store::open_as(options, OwnerId::new(&fresh("owner"))).await.unwrap()
}

pub(crate) fn tenant() -> TenantId {
    TenantId::parse("local").unwrap()
}

pub(crate) fn other_tenant() -> TenantId {
    TenantId::parse("other").unwrap()
}

pub(crate) const fn at(microseconds: i64) -> Timestamp {
    Timestamp::from_microseconds(1_796_112_000_000_000 + microseconds)
}

pub(crate) fn draft_of(tenant: &TenantId, action: Action, facts: &Value) -> AuditDraft {
    AuditDraft::new(AuditId::new(&fresh("audit")), tenant.clone(), "ada", action, "thing", at(7)).with_after(facts)
}

pub(crate) fn draft(action: Action) -> AuditDraft {
    draft_of(&tenant(), action, &json!({"b": 1, "a": [2]}))
}

pub(crate) async fn trail(store: &Store, tenant: &TenantId) -> Vec<AuditEntry> {
    let mut entries = Vec::new();
    loop {
        let after = entries.last().map_or(0, |entry: &AuditEntry| entry.sequence);
        let page = store.page(tenant, after, 500).await.unwrap();
        if page.is_empty() {
            return entries;
        }
        entries.extend(page);
    }
}

/// Reads the whole chain and verifies it, with the copied head as one that was seen.
pub(crate) async fn verify(store: &Store, tenant: &TenantId) -> Verification {
    let seen = store.copied_heads().await.unwrap().remove(tenant);
    let mut verifier = Verifier::new(seen.into_iter().collect());
    for entry in trail(store, tenant).await {
        verifier.take(&entry);
    }
    verifier.finish(|_| true)
}

pub(crate) async fn assert_valid(store: &Store, tenant: &TenantId) -> u64 {
    let verification = verify(store, tenant).await;
    assert_eq!(verification.fault, None);
    verification.entries
}

pub(crate) fn path(text: &str) -> LogicalPath {
    LogicalPath::parse(text).unwrap()
}

pub(crate) fn record(store: &Store) -> ExecutionRecord {
    use belljar_core::ports::Executions;
    ExecutionRecord {
        execution_id: ExecutionId::parse(&fresh("run")).unwrap(),
        tenant: tenant(),
        caller: "ada".to_owned(),
        owner: store.owner().clone(),
        skill_id: Some(SkillId::new("skill")),
        slug: SkillName::parse("csv-profile").unwrap(),
        revision_id: Some(RevisionId::new("revision")),
        origin: Origin::Stored,
        script_path: path("scripts/check.py"),
        runtime: "python".to_owned(),
        executor: "null".to_owned(),
        pin: Digest::of(b"pin"),
        grant_id: GrantId::new("grant"),
        run_id: None,
        once: None,
        arguments: None,
        argv: Vec::new(),
        status: Status::Running,
        error_kind: None,
        fault_kind: None,
        exit_code: None,
        signal: None,
        stdout: String::new(),
        stderr: String::new(),
        stdout_truncated: false,
        stderr_truncated: false,
        limits_hit: Vec::new(),
        memory_peak_bytes: None,
        cpu_time_ms: None,
        usage_source: None,
        timeout_seconds: 30,
        limits_class: "standard".to_owned(),
        abandoned: false,
        created_at: at(20),
        started_at: None,
        finished_at: None,
        isolation: json!({}),
        receipt: None,
    }
}

/// The `script.run` or `script.outcome` entry of a record.
pub(crate) fn about(record: &ExecutionRecord, action: Action) -> AuditDraft {
    draft_of(&record.tenant, action, &json!({"execution_id": record.execution_id}))
}
