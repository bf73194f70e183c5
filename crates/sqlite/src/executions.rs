//! Execution records: opened and closed together with their audit entries.

use async_trait::async_trait;
use belljar_core::audit::{AuditDraft, AuditEntry, Receipt};
use belljar_core::execution::{ExecutionRecord, Status};
use belljar_core::ids::OwnerId;
use belljar_core::ports::{Executions, StoreError, Stored};
use belljar_executor::{ExecutionId, TenantId};
use sqlx::SqliteConnection;

use crate::error::{damaged, unavailable};
use crate::store::Store;
use crate::writer::{Change, Done, mismatch};

/// Opens a run: its entry, and its record with the entry's receipt.
pub(crate) async fn open(
    connection: &mut SqliteConnection,
    mut record: ExecutionRecord,
    draft: AuditDraft,
    entries: &mut Vec<AuditEntry>,
) -> Stored<Receipt> {
    let entry = crate::audit::append(connection, draft).await?;
    let receipt = Receipt::from(&entry);
    record.receipt = Some(receipt.clone());
    sqlx::query(
        "insert into executions (tenant, id, owner, status, created_at, document) values ($1, $2, $3, $4, $5, $6)",
    )
    .bind(record.tenant.as_str())
    .bind(record.execution_id.as_str())
    .bind(record.owner.as_str())
    .bind(record.status.as_str())
    .bind(record.created_at.microseconds())
    .bind(document(&record)?)
    .execute(connection)
    .await
    .map_err(unavailable)?;
    entries.push(entry);
    Ok(receipt)
}

/// Closes a run that is still open.
pub(crate) async fn close(
    connection: &mut SqliteConnection,
    record: &ExecutionRecord,
    draft: AuditDraft,
    entries: &mut Vec<AuditEntry>,
) -> Stored<bool> {
    let closed = sqlx::query(
        "update executions set status = $1, document = $2 where tenant = $3 and id = $4 and status = 'running'",
    )
    .bind(record.status.as_str())
    .bind(document(record)?)
    .bind(record.tenant.as_str())
    .bind(record.execution_id.as_str())
    .execute(&mut *connection)
    .await
    .map_err(unavailable)?;
    if closed.rows_affected() == 0 {
        return Ok(false);
    }
    entries.push(crate::audit::append(connection, draft).await?);
    Ok(true)
}

fn document(record: &ExecutionRecord) -> Stored<String> {
    serde_json::to_string(record).map_err(|_| damaged("an execution record has no JSON form"))
}

fn record(document: &str) -> Stored<ExecutionRecord> {
    serde_json::from_str(document).map_err(|_| damaged("an execution record cannot be read"))
}

#[async_trait]
impl Executions for Store {
    async fn open(&self, record: ExecutionRecord, audit: AuditDraft) -> Stored<Receipt> {
        match self.write(Change::OpenRun(Box::new(record), audit)).await? {
            Done::Receipt(receipt) => Ok(receipt),
            _ => Err(mismatch()),
        }
    }

    async fn close(&self, record: ExecutionRecord, audit: AuditDraft) -> Stored<bool> {
        debug_assert!(record.status != Status::Running, "a closed run has an ending");
        match self.write(Change::CloseRun(Box::new(record), audit)).await? {
            Done::Changed(closed) => Ok(closed),
            _ => Err(mismatch()),
        }
    }

    async fn get(&self, tenant: &TenantId, id: &ExecutionId) -> Stored<Option<ExecutionRecord>> {
        let found: Option<String> = sqlx::query_scalar("select document from executions where tenant = $1 and id = $2")
            .bind(tenant.as_str())
            .bind(id.as_str())
            .fetch_optional(self.readers()?)
            .await
            .map_err(unavailable)?;
        found.as_deref().map(record).transpose()
    }

    async fn list(&self, tenant: &TenantId, limit: u32) -> Stored<Vec<ExecutionRecord>> {
        let documents: Vec<String> = sqlx::query_scalar(
            "select document from executions where tenant = $1 order by created_at desc, id desc limit $2",
        )
        .bind(tenant.as_str())
        .bind(limit)
        .fetch_all(self.readers()?)
        .await
        .map_err(unavailable)?;
        documents.iter().map(|document| record(document)).collect()
    }

    async fn orphans(&self) -> Stored<Vec<ExecutionRecord>> {
        let open: Vec<String> = sqlx::query_scalar("select document from executions where status = 'running'")
            .fetch_all(self.readers()?)
            .await
            .map_err(unavailable)?;
        let mut orphans = Vec::new();
        for document in &open {
            let record = record(document)?;
            if self.owner_of_runs().is_dead(&record.owner).map_err(StoreError::unavailable)? {
                orphans.push(record);
            }
        }
        Ok(orphans)
    }

    fn owner(&self) -> &OwnerId {
        self.owner_id()
    }
}
