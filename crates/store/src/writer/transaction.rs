//! The transaction of one batch: changes, each in a savepoint of its own, and the entries they append.

use belljar_core::audit::{AuditDraft, AuditEntry, Head};
use belljar_core::ids::AuditId;
use belljar_core::ports::{StoreError, Stored};
use belljar_executor::TenantId;
use sqlx::SqliteConnection;

use super::job::Job;
use crate::audit;
use crate::cause::store_error;

/// An entry that a batch appended.
#[derive(Clone, Debug)]
pub(crate) struct Appended {
    pub(crate) tenant: TenantId,
    pub(crate) id: AuditId,
    pub(crate) head: Head,
}

/// What a change is made in.
#[derive(Debug)]
pub(crate) struct Transaction<'c> {
    connection: &'c mut SqliteConnection,
    appended: Vec<Appended>,
}

impl<'c> Transaction<'c> {
    /// The transaction that this connection has begun.
    pub(super) const fn new(connection: &'c mut SqliteConnection) -> Self {
        Self { connection, appended: Vec::new() }
    }

    /// The connection.
    pub(crate) const fn connection(&mut self) -> &mut SqliteConnection {
        self.connection
    }

    /// Appends an entry after the head that is in the database now.
    pub(crate) async fn append(&mut self, draft: AuditDraft) -> Stored<AuditEntry> {
        let head = audit::head(self.connection, draft.tenant()).await?;
        let entry = draft.seal(&head);
        audit::insert(self.connection, &entry).await?;
        let (tenant, id) = (entry.tenant.clone(), entry.id.clone());
        self.appended.push(Appended { tenant, id, head: entry.head() });
        Ok(entry)
    }

    /// Makes one change; when it fails, it alone is taken back. An error means that the transaction is
    /// broken: some errors of SQLite end it, savepoints and all.
    pub(super) async fn apply(&mut self, job: &mut dyn Job) -> Stored<()> {
        let before = self.appended.len();
        self.run("savepoint change").await?;
        if !job.apply(self).await {
            self.appended.truncate(before);
            self.run("rollback to change").await?;
        }
        self.run("release change").await
    }

    /// Ends it; answers what was appended.
    pub(super) fn into_appended(self) -> Vec<Appended> {
        self.appended
    }

    async fn run(&mut self, sql: &'static str) -> Stored<()> {
        sqlx::query(sql).execute(&mut *self.connection).await.map(drop).map_err(store_error)
    }
}

/// A draft that belongs to this tenant, or an error: an entry must stand in the chain of what it tells of.
pub(crate) fn same_tenant(tenant: &TenantId, draft: &AuditDraft) -> Stored<()> {
    if draft.tenant() == tenant {
        return Ok(());
    }
    Err(StoreError::unavailable(format!("the entry belongs to tenant {}, the change to {tenant}", draft.tenant())))
}
