//! The audit trail: appending inside a transaction, and reading.

use std::collections::BTreeMap;

use async_trait::async_trait;
use belljar_core::audit::{Action, AuditDraft, AuditEntry, Head, Receipt};
use belljar_core::ids::AuditId;
use belljar_core::ports::{Audit, Stored};
use belljar_core::time::Timestamp;
use belljar_executor::{Digest, TenantId};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection, SqliteExecutor};

use crate::error::{damaged, unavailable};
use crate::store::Store;
use crate::writer::{Change, Done, mismatch};

/// Appends an entry to its tenant's chain. The head is read inside the transaction.
pub(crate) async fn append(connection: &mut SqliteConnection, draft: AuditDraft) -> Stored<AuditEntry> {
    let head = head(&mut *connection, draft.tenant()).await?;
    let entry = draft.seal(&head);
    let sequence = i64::try_from(entry.sequence).map_err(|_| damaged("the trail is too long"))?;
    sqlx::query(
        "insert into audit (tenant, sequence, id, actor, action, entity, before, after, created_at, previous_hash, hash)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
    )
    .bind(entry.tenant.as_str())
    .bind(sequence)
    .bind(entry.id.as_str())
    .bind(&entry.actor)
    .bind(entry.action.as_str())
    .bind(&entry.entity)
    .bind(&entry.before)
    .bind(&entry.after)
    .bind(entry.created_at.microseconds())
    .bind(entry.previous_hash.lower_hex())
    .bind(entry.hash.lower_hex())
    .execute(connection)
    .await
    .map_err(unavailable)?;
    Ok(entry)
}

/// Whether this very entry is in the trail.
pub(crate) async fn exists(connection: &mut SqliteConnection, entry: &AuditEntry) -> Stored<bool> {
    let found: Option<String> = sqlx::query_scalar("select hash from audit where id = $1")
        .bind(entry.id.as_str())
        .fetch_optional(connection)
        .await
        .map_err(unavailable)?;
    Ok(found.is_some_and(|hash| hash == entry.hash.lower_hex()))
}

async fn head(executor: impl SqliteExecutor<'_>, tenant: &TenantId) -> Stored<Head> {
    let row = sqlx::query("select sequence, hash from audit where tenant = $1 order by sequence desc limit 1")
        .bind(tenant.as_str())
        .fetch_optional(executor)
        .await
        .map_err(unavailable)?;
    let Some(row) = row else { return Ok(Head::GENESIS) };
    Ok(Head { sequence: sequence(&row)?, hash: digest(&row, "hash")? })
}

fn sequence(row: &SqliteRow) -> Stored<u64> {
    let sequence: i64 = row.try_get("sequence").map_err(unavailable)?;
    u64::try_from(sequence).map_err(|_| damaged("a sequence number is negative"))
}

fn digest(row: &SqliteRow, column: &str) -> Stored<Digest> {
    let text: String = row.try_get(column).map_err(unavailable)?;
    Digest::parse(&text).ok_or_else(|| damaged("an audit hash is not a digest"))
}

fn entry(row: &SqliteRow) -> Stored<AuditEntry> {
    let text = |column: &str| row.try_get::<String, _>(column).map_err(unavailable);
    let optional = |column: &str| row.try_get::<Option<String>, _>(column).map_err(unavailable);
    Ok(AuditEntry {
        action: Action::parse(&text("action")?).ok_or_else(|| damaged("an audit action is unknown"))?,
        actor: text("actor")?,
        after: optional("after")?,
        before: optional("before")?,
        created_at: Timestamp::from_microseconds(row.try_get("created_at").map_err(unavailable)?),
        entity: text("entity")?,
        id: AuditId::new(&text("id")?),
        previous_hash: digest(row, "previous_hash")?,
        sequence: sequence(row)?,
        tenant: TenantId::parse(&text("tenant")?).map_err(|_| damaged("a tenant id is wrong"))?,
        hash: digest(row, "hash")?,
    })
}

#[async_trait]
impl Audit for Store {
    async fn append(&self, draft: AuditDraft) -> Stored<Receipt> {
        match self.write(Change::Append(draft)).await? {
            Done::Receipt(receipt) => Ok(receipt),
            _ => Err(mismatch()),
        }
    }

    async fn page(&self, tenant: &TenantId, after: u64, limit: u32) -> Stored<Vec<AuditEntry>> {
        let rows = sqlx::query("select * from audit where tenant = $1 and sequence > $2 order by sequence limit $3")
            .bind(tenant.as_str())
            .bind(i64::try_from(after).unwrap_or(i64::MAX))
            .bind(limit)
            .fetch_all(self.readers()?)
            .await
            .map_err(unavailable)?;
        rows.iter().map(entry).collect()
    }

    async fn head(&self, tenant: &TenantId) -> Stored<Head> {
        head(self.readers()?, tenant).await
    }

    async fn copied_heads(&self) -> Stored<BTreeMap<TenantId, Head>> {
        self.heads().read()
    }

    async fn tenants(&self) -> Stored<Vec<TenantId>> {
        let names: Vec<String> = sqlx::query_scalar("select distinct tenant from audit order by tenant")
            .fetch_all(self.readers()?)
            .await
            .map_err(unavailable)?;
        names.iter().map(|name| TenantId::parse(name).map_err(|_| damaged("a tenant id is wrong"))).collect()
    }
}
