//! What the core asks of the world. Each method is one transaction, and a change and its audit entry
//! are in it together.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use belljar_executor::{ExecutionId, FileTree, LogicalPath, SkillName, TenantId};

use crate::audit::{AuditDraft, AuditEntry, Head, Receipt};
use crate::caller::Owner;
use crate::execution::ExecutionRecord;
use crate::grant::{Grant, PendingGrant};
use crate::ids::{GrantId, OwnerId, RevisionId, SkillId};
use crate::once::{Earlier, IdempotencyKey, Opened};
use crate::skill::{FoundSkill, Revision, RevisionChoice, RevisionDraft, SaveAnswer, SearchQuery, Skill};
use crate::time::Timestamp;

/// A store that did not do what it was asked. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// It cannot be read or written: full, read-only, locked, replaced, gone.
    #[error("the store is unavailable: {0}")]
    Unavailable(#[source] Box<dyn Error + Send + Sync>),
    /// What it holds makes no sense; a person must look.
    #[error("the store is damaged: {0}")]
    Damaged(String),
}

impl StoreError {
    /// The store cannot be read or written.
    pub fn unavailable(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Unavailable(source.into())
    }
}

/// What a port answers.
pub type Stored<T> = Result<T, StoreError>;

/// Skills and their revisions.
#[async_trait]
pub trait Skills: fmt::Debug + Send + Sync {
    /// The skill with this slug of the first of these owners that has one.
    async fn find_by_slug(&self, tenant: &TenantId, owners: &[Owner], slug: &SkillName) -> Stored<Option<Skill>>;
    /// The skill with this id, whoever owns it.
    async fn find_by_id(&self, tenant: &TenantId, id: &SkillId) -> Stored<Option<Skill>>;
    /// All skills of these owners, by slug.
    async fn list(&self, tenant: &TenantId, owners: &[Owner]) -> Stored<Vec<Skill>>;
    /// The best matches among the skills of these owners that are not archived, best first: full text over name,
    /// description, instructions and file names of the current revision, each word also as the beginning of a
    /// longer one, in upper or lower case; of equal ones the latest used, then the one with more successes.
    /// Without a query all of them, the latest used or made first.
    async fn search(
        &self,
        tenant: &TenantId,
        owners: &[Owner],
        query: Option<&SearchQuery>,
        limit: u32,
    ) -> Stored<Vec<FoundSkill>>;
    /// A skill's revision.
    async fn revision(&self, tenant: &TenantId, skill: &SkillId, choice: &RevisionChoice) -> Stored<Option<Revision>>;
    /// All revisions of a skill, newest first.
    async fn revisions(&self, tenant: &TenantId, skill: &SkillId) -> Stored<Vec<Revision>>;
    /// A revision's files, each checked against its digest.
    async fn files(&self, tenant: &TenantId, revision: &RevisionId) -> Stored<FileTree>;
    /// Saves a revision, unless the skill has an equal one, and publishes it when that is asked. The entry is
    /// appended only when something changed.
    async fn save(&self, draft: RevisionDraft, audit: AuditDraft) -> Stored<SaveAnswer>;
    /// Makes a revision of the skill the published one; `None`, and nothing written, when the skill has no such
    /// revision, `false` when it is published already.
    async fn publish(
        &self,
        tenant: &TenantId,
        skill: &SkillId,
        revision: &RevisionId,
        audit: AuditDraft,
    ) -> Stored<Option<bool>>;
    /// Archives a skill or takes it back; `false`, and nothing written, when that is so already.
    async fn set_archived(&self, tenant: &TenantId, skill: &SkillId, archived: bool, audit: AuditDraft)
    -> Stored<bool>;
    /// Deletes a skill with its revisions and the files that no other revision has; `false`, and nothing
    /// written, when it is not there. Grants, executions and the trail stay.
    async fn purge(&self, tenant: &TenantId, skill: &SkillId, audit: AuditDraft) -> Stored<bool>;
}

/// Grants.
#[async_trait]
pub trait Grants: fmt::Debug + Send + Sync {
    /// The grants for a script that are active at this moment, its own and those for `*`.
    async fn active(
        &self,
        tenant: &TenantId,
        skill: &SkillId,
        path: &LogicalPath,
        now: Timestamp,
    ) -> Stored<Vec<Grant>>;
    /// One grant.
    async fn get(&self, tenant: &TenantId, id: &GrantId) -> Stored<Option<Grant>>;
    /// All of a tenant's grants, revoked and expired ones too, newest first.
    async fn list(&self, tenant: &TenantId) -> Stored<Vec<Grant>>;
    /// Appends the entry of a refusal for want of a grant, and counts what it would take.
    async fn refuse(&self, pending: PendingGrant, audit: AuditDraft) -> Stored<()>;
    /// What was refused for want of a grant and has none at this moment, latest first.
    async fn pending(&self, tenant: &TenantId, now: Timestamp) -> Stored<Vec<PendingGrant>>;
    /// Adds a grant, or renews expiry and actor of the one with the same key and clears its revocation
    /// (it keeps its id). With `replace` the active ones with the same target and another pin are
    /// revoked at `granted_at`. Answers the grant as stored.
    async fn add(&self, grant: Grant, replace: bool, audit: AuditDraft) -> Stored<Grant>;
    /// Stamps these grants as revoked; those that are not active at `now` are left out of the answer.
    /// Nothing is written, the entry neither, when none is active.
    async fn revoke(&self, tenant: &TenantId, ids: &[GrantId], now: Timestamp, audit: AuditDraft)
    -> Stored<Vec<Grant>>;
}

/// The audit trail.
#[async_trait]
pub trait Audit: fmt::Debug + Send + Sync {
    /// Appends an entry, durably: once this answers, the entry survives a power cut.
    async fn append(&self, draft: AuditDraft) -> Stored<Receipt>;
    /// A tenant's entries after a sequence number, at most `limit`, in order.
    async fn page(&self, tenant: &TenantId, after: u64, limit: u32) -> Stored<Vec<AuditEntry>>;
    /// A tenant's head.
    async fn head(&self, tenant: &TenantId) -> Stored<Head>;
    /// The heads in the second file, by tenant. May lag behind; never ahead of an intact trail.
    async fn copied_heads(&self) -> Stored<BTreeMap<TenantId, Head>>;
    /// Every tenant that has entries.
    async fn tenants(&self) -> Stored<Vec<TenantId>>;
}

/// Execution records.
#[async_trait]
pub trait Executions: fmt::Debug + Send + Sync {
    /// Opens a run and appends its `script.run` entry, durably. The record names the owner's process. Nothing is
    /// written when its caller opened another one under its key in the 24 hours before.
    async fn open(&self, record: ExecutionRecord, audit: AuditDraft) -> Stored<Opened>;
    /// The run that a caller opened under a key, at or after `since`.
    async fn earlier(
        &self,
        tenant: &TenantId,
        caller: &str,
        key: &IdempotencyKey,
        since: Timestamp,
    ) -> Stored<Option<Earlier>>;
    /// Closes an open run and appends its `script.outcome` entry; `false`, and nothing written, when
    /// the run is not open any more. The key of one that was not started is free again.
    async fn close(&self, record: ExecutionRecord, audit: AuditDraft) -> Stored<bool>;
    /// One record.
    async fn get(&self, tenant: &TenantId, id: &ExecutionId) -> Stored<Option<ExecutionRecord>>;
    /// A tenant's records, newest first, at most `limit`.
    async fn list(&self, tenant: &TenantId, limit: u32) -> Stored<Vec<ExecutionRecord>>;
    /// A caller's latest runs of a skill that have ended, newest first: of the stored one with this id, or without
    /// an id of one that is not in the store.
    async fn recent(
        &self,
        tenant: &TenantId,
        caller: &str,
        slug: &SkillName,
        skill: Option<&SkillId>,
        limit: u32,
    ) -> Stored<Vec<ExecutionRecord>>;
    /// A tenant's open runs, oldest first.
    async fn running(&self, tenant: &TenantId) -> Stored<Vec<ExecutionRecord>>;
    /// Asks for an open run to be cancelled, whichever process runs it; `false`, and nothing written, when it is
    /// not open or somebody asked before.
    async fn request_cancel(&self, tenant: &TenantId, id: &ExecutionId, audit: AuditDraft) -> Stored<bool>;
    /// The open runs of this process that somebody asked to be cancelled.
    async fn cancel_requests(&self) -> Stored<Vec<ExecutionId>>;
    /// Open runs whose owner is dead.
    async fn orphans(&self) -> Stored<Vec<ExecutionRecord>>;
    /// The id of this process as an owner of runs.
    fn owner(&self) -> &OwnerId;
}

/// Whether runs are paused.
#[async_trait]
pub trait Pauses: fmt::Debug + Send + Sync {
    /// Whether runs of this tenant, or of all, are paused.
    async fn is_paused(&self, tenant: &TenantId) -> Stored<bool>;
    /// Pauses or resumes a tenant, or all of them; `false`, and nothing written, when that is so already.
    async fn set_paused(&self, tenant: Option<&TenantId>, paused: bool, audit: AuditDraft) -> Stored<bool>;
}

/// The time. Tests state it.
pub trait Clock: fmt::Debug + Send + Sync {
    /// Now.
    fn now(&self) -> Timestamp;
}

/// Fresh ids. Tests state them.
pub trait Ids: fmt::Debug + Send + Sync {
    /// A new id, later ones sorting after earlier ones (UUID version 7).
    fn new_id(&self) -> String;
}

/// All ports together.
#[derive(Clone, Debug)]
pub struct Ports {
    /// Skills.
    pub skills: Arc<dyn Skills>,
    /// Grants.
    pub grants: Arc<dyn Grants>,
    /// Audit.
    pub audit: Arc<dyn Audit>,
    /// Executions.
    pub executions: Arc<dyn Executions>,
    /// Pauses.
    pub pauses: Arc<dyn Pauses>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// Ids.
    pub ids: Arc<dyn Ids>,
}
