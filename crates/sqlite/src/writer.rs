//! The writer: one task per process, changes committed in groups.
//!
//! A group is one transaction. Whatever goes wrong inside it undoes all of it; then each change of the
//! group is tried alone, so that one of them cannot take its neighbours down. A connection on which
//! something failed is not used again.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use belljar_core::audit::{AuditDraft, AuditEntry, Head, Receipt};
use belljar_core::execution::ExecutionRecord;
use belljar_core::grant::Grant;
use belljar_core::ids::GrantId;
use belljar_core::ports::{StoreError, Stored};
use belljar_core::skill::{RevisionDraft, Saved};
use belljar_core::time::Timestamp;
use belljar_executor::TenantId;
use sqlx::{Connection, SqliteConnection};
use tokio::sync::{mpsc, oneshot};

use crate::heads::Heads;
use crate::identity::Identity;
use crate::{audit, connection, error, executions, grants, pauses, skills};

/// The most changes of one group.
const GROUP: usize = 64;

/// A change; each holds the audit entry that is part of it.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    Append(AuditDraft),
    OpenRun(Box<ExecutionRecord>, AuditDraft),
    CloseRun(Box<ExecutionRecord>, AuditDraft),
    Save(Box<RevisionDraft>, AuditDraft),
    Grant { grant: Box<Grant>, replace: bool, audit: AuditDraft },
    Revoke { tenant: TenantId, ids: Vec<GrantId>, now: Timestamp, audit: AuditDraft },
    Pause { tenant: Option<TenantId>, paused: bool, audit: AuditDraft },
}

/// What a change came to.
#[derive(Debug)]
pub(crate) enum Done {
    Receipt(Receipt),
    Changed(bool),
    Saved(Box<Saved>),
    Grant(Box<Grant>),
    Grants(Vec<Grant>),
}

/// A change and whoever waits for it.
pub(crate) struct Job {
    pub(crate) change: Change,
    pub(crate) answer: oneshot::Sender<Stored<Done>>,
}

/// The writer's surroundings.
#[derive(Debug)]
pub(crate) struct Writer {
    pub(crate) path: PathBuf,
    pub(crate) busy_timeout: Duration,
    pub(crate) identity: Identity,
    pub(crate) heads: Heads,
    pub(crate) replaced: Arc<AtomicBool>,
}

/// A group that is applied: what each change came to, and the entries that were appended.
struct Applied {
    done: Vec<Done>,
    entries: Vec<AuditEntry>,
}

impl Writer {
    /// Starts the task; it ends when the last sender is gone.
    pub(crate) fn start(self, connection: SqliteConnection) -> mpsc::Sender<Job> {
        let (jobs, queue) = mpsc::channel(GROUP * 4);
        tokio::spawn(self.run(connection, queue));
        jobs
    }

    async fn run(mut self, connection: SqliteConnection, mut queue: mpsc::Receiver<Job>) {
        let mut connection = Some(connection);
        while let Some(first) = queue.recv().await {
            let mut jobs = vec![first];
            while jobs.len() < GROUP
                && let Ok(job) = queue.try_recv()
            {
                jobs.push(job);
            }
            self.serve(&mut connection, jobs).await;
        }
        if let Some(connection) = connection {
            drop(connection.close().await);
        }
    }

    async fn serve(&mut self, connection: &mut Option<SqliteConnection>, jobs: Vec<Job>) {
        let (changes, answers): (Vec<_>, Vec<_>) = jobs.into_iter().map(|job| (job.change, job.answer)).unzip();
        match self.commit(connection, &changes).await {
            Ok(done) => done.into_iter().zip(answers).for_each(|(done, answer)| drop(answer.send(Ok(done)))),
            Err(error) if answers.len() == 1 => {
                if let Some(answer) = answers.into_iter().next() {
                    drop(answer.send(Err(error)));
                }
            }
            Err(_) => {
                for (change, answer) in changes.into_iter().zip(answers) {
                    let done = self.commit(connection, std::slice::from_ref(&change)).await;
                    let done =
                        done.and_then(|mut done| done.pop().ok_or_else(|| error::damaged("a change came to nothing")));
                    drop(answer.send(done));
                }
            }
        }
    }

    /// Commits a group; whatever fails, the connection is not used again.
    async fn commit(&mut self, slot: &mut Option<SqliteConnection>, changes: &[Change]) -> Stored<Vec<Done>> {
        let mut connection = match slot.take() {
            Some(connection) => connection,
            None => self.reopen().await?,
        };
        let Applied { done, entries } = match self.apply(&mut connection, changes).await {
            Ok(applied) => applied,
            Err(error) => {
                drop(sqlx::query("rollback").execute(&mut connection).await);
                drop(connection.close_hard().await);
                return Err(error);
            }
        };
        trace_point("before_commit");
        if let Err(error) = sqlx::query("commit").execute(&mut connection).await {
            drop(connection.close_hard().await);
            self.find_out(slot, &entries, error).await?;
        } else {
            *slot = Some(connection);
        }
        trace_point("after_commit");
        self.copy_heads(&entries);
        Ok(done)
    }

    async fn apply(&self, connection: &mut SqliteConnection, changes: &[Change]) -> Stored<Applied> {
        sqlx::query("begin immediate").execute(&mut *connection).await.map_err(error::unavailable)?;
        let mut applied = Applied { done: Vec::new(), entries: Vec::new() };
        for change in changes {
            let done = apply(connection, change.clone(), &mut applied.entries).await?;
            applied.done.push(done);
        }
        self.check_identity()?;
        Ok(applied)
    }

    fn check_identity(&self) -> Stored<()> {
        self.identity.check().map_err(|what| {
            self.replaced.store(true, Ordering::Release);
            StoreError::unavailable(what)
        })
    }

    async fn reopen(&mut self) -> Stored<SqliteConnection> {
        if self.replaced.load(Ordering::Acquire) {
            return Err(StoreError::unavailable("the database was deleted or replaced while it was open"));
        }
        let mut connection =
            connection::writer(&self.path, self.busy_timeout).await.map_err(StoreError::unavailable)?;
        // A read makes the new connection open its write-ahead log, so that it can be held.
        let _: i64 = sqlx::query_scalar("select count(*) from pauses")
            .fetch_one(&mut connection)
            .await
            .map_err(error::unavailable)?;
        self.identity = self.identity.renew().map_err(|what| {
            self.replaced.store(true, Ordering::Release);
            StoreError::unavailable(what)
        })?;
        Ok(connection)
    }

    /// A commit that answered with an error may still have become durable. Whether it did is read on a
    /// new connection: what was refused must not turn up later.
    async fn find_out(
        &mut self,
        slot: &mut Option<SqliteConnection>,
        entries: &[AuditEntry],
        failure: sqlx::Error,
    ) -> Stored<()> {
        let mut connection = self.reopen().await?;
        let is_durable = match entries.last() {
            Some(entry) => audit::exists(&mut connection, entry).await?,
            None => false,
        };
        *slot = Some(connection);
        if is_durable { Ok(()) } else { Err(error::unavailable(failure)) }
    }

    fn copy_heads(&self, entries: &[AuditEntry]) {
        if entries.is_empty() {
            return;
        }
        // Entries come in order, so the last of a tenant is its head.
        let heads: BTreeMap<TenantId, Head> =
            entries.iter().map(|entry| (entry.tenant.clone(), entry.head())).collect();
        if let Err(error) = self.heads.advance(&heads) {
            tracing::error!(%error, "the copy of the audit heads could not be written; the entries stand");
        }
    }
}

async fn apply(connection: &mut SqliteConnection, change: Change, entries: &mut Vec<AuditEntry>) -> Stored<Done> {
    match change {
        Change::Append(draft) => {
            let entry = audit::append(connection, draft).await?;
            let receipt = Receipt::from(&entry);
            entries.push(entry);
            Ok(Done::Receipt(receipt))
        }
        Change::OpenRun(record, draft) => {
            executions::open(connection, *record, draft, entries).await.map(Done::Receipt)
        }
        Change::CloseRun(record, draft) => {
            executions::close(connection, &record, draft, entries).await.map(Done::Changed)
        }
        Change::Save(revision, draft) => {
            skills::save(connection, *revision, draft, entries).await.map(|saved| Done::Saved(Box::new(saved)))
        }
        Change::Grant { grant, replace, audit } => {
            grants::add(connection, *grant, replace, audit, entries).await.map(|grant| Done::Grant(Box::new(grant)))
        }
        Change::Revoke { tenant, ids, now, audit } => {
            grants::revoke(connection, &tenant, &ids, now, audit, entries).await.map(Done::Grants)
        }
        Change::Pause { tenant, paused, audit } => {
            pauses::set(connection, tenant.as_ref(), paused, audit, entries).await.map(Done::Changed)
        }
    }
}

/// A named moment, for the tests that kill the process there.
fn trace_point(point: &'static str) {
    tracing::trace!(target: "belljar::point", point);
}

/// The answer of a change that came to something else than was asked: a fault of ours, never a panic.
pub(crate) fn mismatch() -> StoreError {
    error::damaged("a change came to something else than was asked")
}
