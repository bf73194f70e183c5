//! Opening a run: its record and its `script.run` entry, together.

use async_trait::async_trait;
use belljar_core::audit::{AuditDraft, Receipt};
use belljar_core::execution::ExecutionRecord;
use belljar_core::once::Opened;
use belljar_core::ports::Stored;

use super::once;
use crate::cause::store_error;
use crate::json;
use crate::writer::{Change, Transaction, same_tenant};

pub(super) struct Open {
    pub(super) record: ExecutionRecord,
    pub(super) audit: AuditDraft,
}

#[async_trait]
impl Change for Open {
    type Answer = Opened;

    async fn apply(self, transaction: &mut Transaction<'_>) -> Stored<Opened> {
        let Self { mut record, audit } = self;
        same_tenant(&record.tenant, &audit)?;
        if let Some(once) = &record.once
            && let Some(earlier) = once::taken(transaction.connection(), &record, once).await?
        {
            return Ok(Opened::Earlier(earlier));
        }
        let receipt = Receipt::from(&transaction.append(audit).await?);
        record.receipt = Some(receipt.clone());
        sqlx::query("insert into execution (tenant, id, status, owner, created_at, record) values (?, ?, ?, ?, ?, ?)")
            .bind(record.tenant.as_str())
            .bind(record.execution_id.as_str())
            .bind(record.status.as_str())
            .bind(record.owner.as_str())
            .bind(record.created_at.microseconds())
            .bind(json::write(&record)?)
            .execute(transaction.connection())
            .await
            .map_err(store_error)?;
        if let Some(once) = &record.once {
            once::keep(transaction.connection(), &record, once).await?;
        }
        Ok(Opened::Now(receipt))
    }
}
