//! Asking for a run to be cancelled, and hearing of it in the process that runs it.

use async_trait::async_trait;
use belljar_core::audit::AuditDraft;
use belljar_core::ports::{StoreError, Stored};
use belljar_executor::{ExecutionId, TenantId};
use sqlx::Row;

use crate::cause::store_error;
use crate::store::Store;
use crate::writer::{Change, Transaction, same_tenant};

pub(super) struct RequestCancel {
    pub(super) tenant: TenantId,
    pub(super) execution: ExecutionId,
    pub(super) audit: AuditDraft,
}

#[async_trait]
impl Change for RequestCancel {
    type Answer = bool;

    async fn apply(self, transaction: &mut Transaction<'_>) -> Stored<bool> {
        let Self { tenant, execution, audit } = self;
        same_tenant(&tenant, &audit)?;
        // Asked again, the first request stands: the run is being cancelled already.
        let asked = sqlx::query(
            "insert into cancellation (tenant, execution, requested_by, requested_at)
             select tenant, id, ?3, ?4 from execution where tenant = ?1 and id = ?2 and status = 'running'
             on conflict do nothing",
        )
        .bind(tenant.as_str())
        .bind(execution.as_str())
        .bind(audit.actor())
        .bind(audit.created_at().microseconds())
        .execute(transaction.connection())
        .await
        .map_err(store_error)?
        .rows_affected();
        if asked > 0 {
            transaction.append(audit).await?;
        }
        Ok(asked > 0)
    }
}

/// The open runs of this process that somebody asked to be cancelled.
pub(super) async fn requested(store: &Store) -> Stored<Vec<ExecutionId>> {
    let mut reader = store.reader().await?;
    let rows = sqlx::query(
        "select execution.id from execution
         join cancellation on cancellation.tenant = execution.tenant and cancellation.execution = execution.id
         where execution.owner = ? and execution.status = 'running'",
    )
    .bind(store.owner_id().as_str())
    .fetch_all(reader.connection())
    .await
    .map_err(store_error)?;
    reader.give_back();
    let id = |row: &sqlx::sqlite::SqliteRow| {
        let text: String = row.try_get("id").map_err(store_error)?;
        ExecutionId::parse(&text).map_err(StoreError::unavailable)
    };
    rows.iter().map(id).collect()
}
