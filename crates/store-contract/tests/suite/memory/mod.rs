//! A store in memory: plain structures behind a mutex, which all handles share. A change is made on a copy,
//! which takes the place of the data once it went well.

mod audit;
mod defect;
mod executions;
mod grants;
mod pauses;
mod save;
mod search;
mod skills;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use belljar_core::audit::{AuditDraft, AuditEntry, Head};
use belljar_core::execution::ExecutionRecord;
use belljar_core::grant::{Grant, PendingGrant};
use belljar_core::ids::{OwnerId, RevisionId};
use belljar_core::ports::{Clock, Ids, Ports, StoreError, Stored};
use belljar_core::skill::{Revision, Skill};
use belljar_core::time::Timestamp;
use belljar_executor::{Digest, ExecutionId, LogicalPath, TenantId};
use belljar_store_contract::Subject;

pub(crate) use self::defect::Defect;

/// What is stored.
#[derive(Clone, Debug, Default)]
struct Data {
    skills: Vec<Skill>,
    revisions: Vec<(TenantId, Revision)>,
    files: BTreeMap<(TenantId, RevisionId), BTreeMap<LogicalPath, Digest>>,
    contents: BTreeMap<(TenantId, Digest), Arc<[u8]>>,
    grants: Vec<Grant>,
    pending: Vec<PendingGrant>,
    trails: BTreeMap<TenantId, Vec<AuditEntry>>,
    copied_heads: BTreeMap<TenantId, Head>,
    runs: Vec<ExecutionRecord>,
    cancels: BTreeSet<ExecutionId>,
    paused: BTreeSet<Option<TenantId>>,
}

#[derive(Debug, Default)]
struct Shared {
    data: Mutex<Data>,
    living: Mutex<BTreeSet<OwnerId>>,
    next: AtomicU64,
}

/// A database.
#[derive(Debug)]
pub(crate) struct Database {
    shared: Arc<Shared>,
    defect: Option<Defect>,
}

impl Database {
    /// An empty one, behind a store with this defect.
    pub(crate) fn new(defect: Option<Defect>) -> Self {
        Self { shared: Arc::default(), defect }
    }
}

#[async_trait]
impl Subject for Database {
    async fn open(&self) -> Ports {
        let owner = OwnerId::new(&format!("owner-{}", self.shared.next.fetch_add(1, Ordering::Relaxed)));
        self.shared.living.lock().unwrap().insert(owner.clone());
        let own = Mutex::new(self.shared.data.lock().unwrap().clone());
        let handle = Arc::new(Handle { shared: Arc::clone(&self.shared), owner, defect: self.defect, own });
        Ports {
            skills: handle.clone(),
            grants: handle.clone(),
            audit: handle.clone(),
            executions: handle.clone(),
            pauses: handle.clone(),
            clock: handle.clone(),
            ids: handle,
        }
    }
}

/// One process.
#[derive(Debug)]
struct Handle {
    shared: Arc<Shared>,
    owner: OwnerId,
    defect: Option<Defect>,
    /// What this process knows: the data when it was opened, and after each of its changes.
    own: Mutex<Data>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.shared.living.lock().unwrap().remove(&self.owner);
        if self.has(Defect::ForgetsPauses) {
            self.shared.data.lock().unwrap().paused.clear();
        }
    }
}

impl Handle {
    fn has(&self, defect: Defect) -> bool {
        self.defect == Some(defect)
    }

    fn read<T>(&self, read: impl FnOnce(&Data) -> T) -> T {
        if self.has(Defect::ReadsItsOwnCopy) {
            return read(&self.own.lock().unwrap());
        }
        read(&self.shared.data.lock().unwrap())
    }

    fn change<T>(&self, make: impl FnOnce(&mut Change) -> Stored<T>) -> Stored<T> {
        let mut data = self.shared.data.lock().unwrap();
        let mut own = self.own.lock().unwrap();
        let checks_own = self.has(Defect::ChecksItsOwnCopy);
        let known = if checks_own { own.clone() } else { data.clone() };
        let mut change = Change { data: data.clone(), known, own: own.clone(), defect: self.defect };
        let answer = make(&mut change);
        if answer.is_ok() || self.has(Defect::KeepsHalf) {
            *data = change.data;
            own.clone_from(&data);
        } else if self.has(Defect::CopiesHeadsEarly) {
            data.copied_heads = change.data.copied_heads;
        }
        answer
    }
}

impl Clock for Handle {
    fn now(&self) -> Timestamp {
        Timestamp::from_microseconds(0)
    }
}

impl Ids for Handle {
    fn new_id(&self) -> String {
        format!("id-{:06}", self.shared.next.fetch_add(1, Ordering::Relaxed))
    }
}

/// What a change is made in.
struct Change {
    data: Data,
    /// What checks look at.
    known: Data,
    own: Data,
    defect: Option<Defect>,
}

impl Change {
    fn has(&self, defect: Defect) -> bool {
        self.defect == Some(defect)
    }

    /// Appends the entry of a change to the chain of its tenant.
    fn append_for(&mut self, tenant: &TenantId, draft: AuditDraft) -> Stored<AuditEntry> {
        if draft.tenant() != tenant && !self.has(Defect::TakesAnyEntry) {
            return Err(StoreError::unavailable(format!("the entry does not belong to tenant {tenant}")));
        }
        self.append(draft)
    }

    fn append(&mut self, draft: AuditDraft) -> Stored<AuditEntry> {
        let tenant = draft.tenant().clone();
        let trails = if self.has(Defect::ChainsItsOwnEntries) { &self.own.trails } else { &self.data.trails };
        let mut head = trails.get(&tenant).and_then(|trail| trail.last()).map_or(Head::GENESIS, AuditEntry::head);
        if self.has(Defect::NumbersAllTenants) {
            head.sequence = self.data.trails.values().map(|trail| trail.len() as u64).sum();
        }
        let mut entry = draft.seal(&head);
        if self.has(Defect::DropsTheStateBefore) {
            entry.before = None;
            entry.hash = entry.computed_hash();
        }
        self.data.copied_heads.insert(tenant.clone(), entry.head());
        let trail = self.data.trails.entry(tenant).or_default();
        let is_used = trail.iter().any(|other| other.id == entry.id);
        if is_used && self.defect != Some(Defect::TakesAnIdTwice) {
            return Err(StoreError::unavailable(format!("there is an entry with the id {}", entry.id)));
        }
        trail.push(entry.clone());
        Ok(entry)
    }
}
