//! The audit trail: one table, append-only by its triggers, a chain for each tenant.

use std::collections::BTreeMap;

use async_trait::async_trait;
use belljar_core::audit::{Action, AuditDraft, AuditEntry, Head, Receipt};
use belljar_core::ids::AuditId;
use belljar_core::ports::{Audit, StoreError, Stored};
use belljar_executor::TenantId;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;

use crate::cause::store_error;
use crate::row;
use crate::store::Store;
use crate::writer::{Change, Transaction};

struct Append(AuditDraft);

#[async_trait]
impl Change for Append {
    type Answer = Receipt;

    async fn apply(self, transaction: &mut Transaction<'_>) -> Stored<Receipt> {
        transaction.append(self.0).await.map(|entry| Receipt::from(&entry))
    }
}

#[async_trait]
impl Audit for Store {
    async fn append(&self, draft: AuditDraft) -> Stored<Receipt> {
        self.change(Append(draft)).await
    }

    async fn page(&self, tenant: &TenantId, after: u64, limit: u32) -> Stored<Vec<AuditEntry>> {
        let Ok(after) = i64::try_from(after) else { return Ok(Vec::new()) };
        let mut reader = self.reader().await?;
        let rows = sqlx::query("select * from audit where tenant = ? and sequence > ? order by sequence limit ?")
            .bind(tenant.as_str())
            .bind(after)
            .bind(limit)
            .fetch_all(reader.connection())
            .await
            .map_err(store_error)?;
        reader.give_back();
        rows.iter().map(entry).collect()
    }

    async fn head(&self, tenant: &TenantId) -> Stored<Head> {
        let mut reader = self.reader().await?;
        let head = head(reader.connection(), tenant).await?;
        reader.give_back();
        Ok(head)
    }

    async fn copied_heads(&self) -> Stored<BTreeMap<TenantId, Head>> {
        self.heads().await
    }

    async fn tenants(&self) -> Stored<Vec<TenantId>> {
        let mut reader = self.reader().await?;
        let rows = sqlx::query("select tenant from audit where sequence = 1 order by tenant")
            .fetch_all(reader.connection())
            .await
            .map_err(store_error)?;
        reader.give_back();
        rows.iter().map(|found| row::tenant(found, "tenant")).collect()
    }
}

/// A chain's head.
pub(crate) async fn head(connection: &mut SqliteConnection, tenant: &TenantId) -> Stored<Head> {
    let found = sqlx::query("select sequence, hash from audit where tenant = ? order by sequence desc limit 1")
        .bind(tenant.as_str())
        .fetch_optional(connection)
        .await
        .map_err(store_error)?;
    let Some(found) = found else { return Ok(Head::GENESIS) };
    Ok(Head { sequence: row::number(&found, "sequence")?, hash: row::digest(&found, "hash")? })
}

/// Whether a chain's last entry hashes to what it says.
pub(crate) async fn check_head(connection: &mut SqliteConnection, tenant: &TenantId) -> Stored<()> {
    let found = sqlx::query("select * from audit where tenant = ? order by sequence desc limit 1")
        .bind(tenant.as_str())
        .fetch_optional(connection)
        .await
        .map_err(store_error)?;
    let Some(found) = found else { return Ok(()) };
    let last = entry(&found)?;
    if last.computed_hash() == last.hash {
        return Ok(());
    }
    Err(StoreError::Damaged(format!("audit entry {} of tenant {tenant} does not match its hash", last.sequence)))
}

/// Whether an entry is in a chain.
pub(crate) async fn has(connection: &mut SqliteConnection, tenant: &TenantId, id: &AuditId) -> Stored<bool> {
    sqlx::query_scalar("select exists (select 1 from audit where tenant = ? and id = ?)")
        .bind(tenant.as_str())
        .bind(id.as_str())
        .fetch_one(connection)
        .await
        .map_err(store_error)
}

/// Writes a sealed entry.
pub(crate) async fn insert(connection: &mut SqliteConnection, entry: &AuditEntry) -> Stored<()> {
    let sequence = i64::try_from(entry.sequence).map_err(StoreError::unavailable)?;
    sqlx::query(
        "insert into audit
         (tenant, sequence, id, actor, action, entity, before, after, created_at, previous_hash, hash)
         values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(entry.tenant.as_str())
    .bind(sequence)
    .bind(entry.id.as_str())
    .bind(entry.actor.as_str())
    .bind(entry.action.as_str())
    .bind(entry.entity.as_str())
    .bind(entry.before.as_deref())
    .bind(entry.after.as_deref())
    .bind(entry.created_at.microseconds())
    .bind(row::bytes_of(&entry.previous_hash))
    .bind(row::bytes_of(&entry.hash))
    .execute(connection)
    .await
    .map(drop)
    .map_err(store_error)
}

fn entry(found: &SqliteRow) -> Stored<AuditEntry> {
    let action = row::text(found, "action")?;
    Ok(AuditEntry {
        action: Action::parse(&action)
            .ok_or_else(|| StoreError::Damaged(format!("an audit entry has the unknown action `{action}`")))?,
        actor: row::text(found, "actor")?,
        after: row::optional_text(found, "after")?,
        before: row::optional_text(found, "before")?,
        created_at: row::time(found, "created_at")?,
        entity: row::text(found, "entity")?,
        id: AuditId::new(&row::text(found, "id")?),
        previous_hash: row::digest(found, "previous_hash")?,
        sequence: row::number(found, "sequence")?,
        tenant: row::tenant(found, "tenant")?,
        hash: row::digest(found, "hash")?,
    })
}
