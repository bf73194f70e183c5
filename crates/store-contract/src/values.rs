//! Values of every kind, with stated ids and times.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use belljar_core::audit::{Action, AuditDraft};
use belljar_core::caller::Owner;
use belljar_core::execution::{ExecutionRecord, Status};
use belljar_core::grant::{Grant, GrantTarget, PendingGrant};
use belljar_core::ids::{AuditId, GrantId, RevisionId, SkillId};
use belljar_core::ports::Ports;
use belljar_core::skill::{ComponentType, Expectation, FileEntry, Manifest, RevisionDraft};
use belljar_core::time::Timestamp;
use belljar_executor::{Digest, ExecutionId, FileTree, LogicalPath, Origin, SkillName, TenantId};
use serde_json::json;

/// Names and contents.
pub(crate) type Files<'f> = &'f [(&'f str, &'f [u8])];

/// Three files: text, bytes that are no text, and nothing.
pub(crate) const FIRST: Files<'_> = &[("SKILL.md", b"one"), ("a.bin", b"\xff\x00\x01"), ("empty", b"")];
/// Two files, of which one is in [`FIRST`], too.
pub(crate) const SECOND: Files<'_> = &[("SKILL.md", b"two"), ("a.bin", b"\xff\x00\x01")];
/// One file.
pub(crate) const THIRD: Files<'_> = &[("SKILL.md", b"three")];

/// An id that no other call gets, later ones sorting after earlier ones.
pub(crate) fn fresh(kind: &str) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("{kind}-{:06}", NEXT.fetch_add(1, Ordering::Relaxed))
}

pub(crate) fn tenant() -> TenantId {
    TenantId::parse("local").unwrap()
}

pub(crate) fn other_tenant() -> TenantId {
    TenantId::parse("other").unwrap()
}

pub(crate) fn owner() -> Owner {
    Owner::Personal("ada".to_owned())
}

pub(crate) fn team() -> Owner {
    Owner::Team("red".to_owned())
}

pub(crate) const fn at(microseconds: i64) -> Timestamp {
    Timestamp::from_microseconds(1_796_112_000_000_000 + microseconds)
}

pub(crate) fn path(text: &str) -> LogicalPath {
    LogicalPath::parse(text).unwrap()
}

pub(crate) fn slug(text: &str) -> SkillName {
    SkillName::parse(text).unwrap()
}

/// An entry with this id in this tenant's chain.
pub(crate) fn entry_with(id: &AuditId, tenant: &TenantId, action: Action) -> AuditDraft {
    AuditDraft::new(id.clone(), tenant.clone(), "ada", action, "thing", at(7)).with_after(&json!({"b": 1, "a": [2]}))
}

pub(crate) fn entry_of(tenant: &TenantId, action: Action) -> AuditDraft {
    entry_with(&AuditId::new(&fresh("audit")), tenant, action)
}

pub(crate) fn entry(action: Action) -> AuditDraft {
    entry_of(&tenant(), action)
}

/// A revision of the owner's skill of this name, with exactly these files.
pub(crate) fn revision(name: &str, files: Files<'_>) -> RevisionDraft {
    let listed = |bytes: &[u8]| FileEntry {
        sha256: Digest::of(bytes),
        size: bytes.len() as u64,
        media_type: "text/plain".to_owned(),
        component_type: ComponentType::Document,
    };
    let tree: BTreeMap<_, _> = files.iter().map(|(name, bytes)| (path(name), Arc::from(*bytes))).collect();
    RevisionDraft {
        new_skill_id: SkillId::new(&fresh("skill")),
        new_revision_id: RevisionId::new(&fresh("revision")),
        tenant: tenant(),
        owner: owner(),
        slug: slug(name),
        description: "Does something.".to_owned(),
        manifest: Manifest {
            name: slug(name),
            description: "Does something.".to_owned(),
            files: files.iter().map(|(name, bytes)| (path(name), listed(bytes))).collect(),
            scripts: BTreeMap::new(),
        },
        files: FileTree::new(tree),
        created_by: "ada".to_owned(),
        created_at: at(1),
        expectation: Expectation::Anything,
        publish: false,
    }
}

/// The id under which the grants of these tests are.
pub(crate) fn granted_skill() -> SkillId {
    SkillId::new("skill")
}

pub(crate) fn script() -> GrantTarget {
    GrantTarget::script(&path("scripts/a.py"))
}

pub(crate) fn pin(text: &str) -> Digest {
    Digest::of(text.as_bytes())
}

/// A grant without expiry, given at moment 10.
pub(crate) fn grant(target: GrantTarget, pinned: Option<&str>) -> Grant {
    Grant {
        id: GrantId::new(&fresh("grant")),
        tenant: tenant(),
        skill_id: granted_skill(),
        target,
        pin: pinned.map(pin),
        granted_by: "ada".to_owned(),
        granted_at: at(10),
        expires_at: None,
        revoked_at: None,
    }
}

/// A refusal of `scripts/a.py` at this pin and this moment, for the first time.
pub(crate) fn refusal(pinned: &str, moment: i64) -> PendingGrant {
    let script = path("scripts/a.py");
    PendingGrant {
        id: PendingGrant::id_of(&granted_skill(), &script, pin(pinned)),
        tenant: tenant(),
        skill_id: granted_skill(),
        slug: slug("demo"),
        script,
        pin: pin(pinned),
        revision_id: Some(RevisionId::new("revision")),
        reason: "grant_missing".to_owned(),
        asked_by: "ada".to_owned(),
        asked: 1,
        first_at: at(moment),
        last_at: at(moment),
    }
}

/// A run that this handle is about to open.
pub(crate) fn run(ports: &Ports) -> ExecutionRecord {
    ExecutionRecord {
        execution_id: ExecutionId::parse(&fresh("run")).unwrap(),
        tenant: tenant(),
        caller: "ada".to_owned(),
        owner: ports.executions.owner().clone(),
        skill_id: Some(granted_skill()),
        slug: slug("demo"),
        revision_id: Some(RevisionId::new("revision")),
        origin: Origin::Stored,
        script_path: path("scripts/a.py"),
        runtime: "python".to_owned(),
        executor: "null".to_owned(),
        pin: pin("pin"),
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

/// The run as it ended well.
pub(crate) fn ended(run: &ExecutionRecord) -> ExecutionRecord {
    ExecutionRecord { status: Status::Success, exit_code: Some(0), finished_at: Some(at(50)), ..run.clone() }
}

/// The `script.run` or `script.outcome` entry of a run.
pub(crate) fn about(run: &ExecutionRecord, action: Action) -> AuditDraft {
    entry_of(&run.tenant, action).with_after(&json!({"execution_id": run.execution_id}))
}
