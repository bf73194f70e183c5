//! Closing a run that is still open: its record and its `script.outcome` entry, together. Whoever comes
//! second, the host or the sweep of a later start, changes nothing.

use async_trait::async_trait;
use belljar_core::audit::{AuditDraft, Receipt};
use belljar_core::execution::{ExecutionRecord, Status};
use belljar_core::ports::Stored;

use super::once;
use crate::cause::store_error;
use crate::json;
use crate::writer::{Change, Transaction, same_tenant};

pub(super) struct Close {
    pub(super) record: ExecutionRecord,
    pub(super) audit: AuditDraft,
}

#[async_trait]
impl Change for Close {
    type Answer = bool;

    async fn apply(self, transaction: &mut Transaction<'_>) -> Stored<bool> {
        let Self { mut record, audit } = self;
        same_tenant(&record.tenant, &audit)?;
        if record.receipt.is_none() {
            record.receipt = receipt_of_open_run(transaction, &record).await?;
        }
        let changed = sqlx::query(
            "update execution set status = ?, record = ? where tenant = ? and id = ? and status = 'running'",
        )
        .bind(record.status.as_str())
        .bind(json::write(&record)?)
        .bind(record.tenant.as_str())
        .bind(record.execution_id.as_str())
        .execute(transaction.connection())
        .await
        .map_err(store_error)?
        .rows_affected();
        if changed > 0 {
            count_use(transaction, &record).await?;
            if record.status == Status::NotStarted {
                once::free(transaction.connection(), &record).await?;
            }
            transaction.append(audit).await?;
        }
        Ok(changed > 0)
    }
}

/// Counts a run for its skill, for the order of what is searched.
async fn count_use(transaction: &mut Transaction<'_>, record: &ExecutionRecord) -> Stored<()> {
    let Some(skill) = record.skill_id.as_ref().filter(|_| record.status != Status::NotStarted) else { return Ok(()) };
    sqlx::query(
        "insert into skill_use (tenant, skill, ended, succeeded, last_at) values (?1, ?2, 1, ?3, ?4)
         on conflict do update set
             ended = ended + 1, succeeded = succeeded + excluded.succeeded, last_at = max(last_at, excluded.last_at)",
    )
    .bind(record.tenant.as_str())
    .bind(skill.as_str())
    .bind(i64::from(record.status == Status::Success))
    .bind(record.created_at.microseconds())
    .execute(transaction.connection())
    .await
    .map(drop)
    .map_err(store_error)
}

async fn receipt_of_open_run(transaction: &mut Transaction<'_>, record: &ExecutionRecord) -> Stored<Option<Receipt>> {
    let document: Option<String> =
        sqlx::query_scalar("select record from execution where tenant = ? and id = ? and status = 'running'")
            .bind(record.tenant.as_str())
            .bind(record.execution_id.as_str())
            .fetch_optional(transaction.connection())
            .await
            .map_err(store_error)?;
    let Some(document) = document else { return Ok(None) };
    let stored: ExecutionRecord = json::read("an execution record", &document)?;
    Ok(stored.receipt)
}
