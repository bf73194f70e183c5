//! Execution records: a JSON document each, with the columns that are asked for beside it.

mod cancel;
mod close;
mod once;
mod open;

use std::collections::BTreeMap;

use async_trait::async_trait;
use belljar_core::audit::AuditDraft;
use belljar_core::execution::ExecutionRecord;
use belljar_core::ids::{OwnerId, SkillId};
use belljar_core::once::{Earlier, IdempotencyKey, Opened};
use belljar_core::ports::{Executions, StoreError, Stored};
use belljar_core::time::Timestamp;
use belljar_executor::{ExecutionId, SkillName, TenantId};
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;

use self::close::Close;
use self::open::Open;
use crate::cause::store_error;
use crate::store::Store;
use crate::{json, owners, row};

#[async_trait]
impl Executions for Store {
    async fn open(&self, record: ExecutionRecord, audit: AuditDraft) -> Stored<Opened> {
        self.change(Open { record, audit }).await
    }

    async fn earlier(
        &self,
        tenant: &TenantId,
        caller: &str,
        key: &IdempotencyKey,
        since: Timestamp,
    ) -> Stored<Option<Earlier>> {
        let mut reader = self.reader().await?;
        let found = once::find(reader.connection(), tenant, caller, key, since).await?;
        reader.give_back();
        Ok(found)
    }

    async fn close(&self, record: ExecutionRecord, audit: AuditDraft) -> Stored<bool> {
        self.change(Close { record, audit }).await
    }

    async fn get(&self, tenant: &TenantId, id: &ExecutionId) -> Stored<Option<ExecutionRecord>> {
        let mut reader = self.reader().await?;
        let found = sqlx::query("select record from execution where tenant = ? and id = ?")
            .bind(tenant.as_str())
            .bind(id.as_str())
            .fetch_optional(reader.connection())
            .await
            .map_err(store_error)?;
        reader.give_back();
        found.as_ref().map(record).transpose()
    }

    async fn list(&self, tenant: &TenantId, limit: u32) -> Stored<Vec<ExecutionRecord>> {
        let mut reader = self.reader().await?;
        let rows =
            sqlx::query("select record from execution where tenant = ? order by created_at desc, id desc limit ?")
                .bind(tenant.as_str())
                .bind(limit)
                .fetch_all(reader.connection())
                .await
                .map_err(store_error)?;
        reader.give_back();
        rows.iter().map(record).collect()
    }

    async fn recent(
        &self,
        tenant: &TenantId,
        caller: &str,
        slug: &SkillName,
        skill: Option<&SkillId>,
        limit: u32,
    ) -> Stored<Vec<ExecutionRecord>> {
        let mut reader = self.reader().await?;
        let rows = sqlx::query(
            "select record from execution
             where tenant = ? and caller = ? and slug = ? and json_extract(record, '$.skill_id') is ?
                 and status <> 'running'
             order by created_at desc, id desc limit ?",
        )
        .bind(tenant.as_str())
        .bind(caller)
        .bind(slug.as_str())
        .bind(skill.map(SkillId::as_str))
        .bind(limit)
        .fetch_all(reader.connection())
        .await
        .map_err(store_error)?;
        reader.give_back();
        rows.iter().map(record).collect()
    }

    async fn running(&self, tenant: &TenantId) -> Stored<Vec<ExecutionRecord>> {
        let mut reader = self.reader().await?;
        let rows =
            sqlx::query("select record from execution where tenant = ? and status = 'running' order by created_at, id")
                .bind(tenant.as_str())
                .fetch_all(reader.connection())
                .await
                .map_err(store_error)?;
        reader.give_back();
        rows.iter().map(record).collect()
    }

    async fn request_cancel(&self, tenant: &TenantId, id: &ExecutionId, audit: AuditDraft) -> Stored<bool> {
        self.change(cancel::RequestCancel { tenant: tenant.clone(), execution: id.clone(), audit }).await
    }

    async fn cancel_requests(&self) -> Stored<Vec<ExecutionId>> {
        cancel::requested(self).await
    }

    async fn orphans(&self) -> Stored<Vec<ExecutionRecord>> {
        let mut reader = self.reader().await?;
        let rows =
            sqlx::query("select record from execution where status = 'running' and owner <> ? order by created_at, id")
                .bind(self.owner_id().as_str())
                .fetch_all(reader.connection())
                .await
                .map_err(store_error)?;
        reader.give_back();
        let running = rows.iter().map(record).collect::<Stored<Vec<_>>>()?;
        let folder = self.owners_folder();
        tokio::task::spawn_blocking(move || of_the_dead(&folder, running)).await.map_err(StoreError::unavailable)?
    }

    fn owner(&self) -> &OwnerId {
        self.owner_id()
    }
}

/// Keeps the records whose owner is dead. Blocks.
fn of_the_dead(folder: &std::path::Path, running: Vec<ExecutionRecord>) -> Stored<Vec<ExecutionRecord>> {
    let mut dead = BTreeMap::new();
    let mut kept = Vec::new();
    for record in running {
        let is_dead = match dead.get(&record.owner) {
            Some(known) => *known,
            None => owners::is_dead(folder, &record.owner).map_err(StoreError::unavailable)?,
        };
        dead.insert(record.owner.clone(), is_dead);
        if is_dead {
            kept.push(record);
        }
    }
    Ok(kept)
}

/// The owners that have open runs, dead or alive, of all tenants.
pub(crate) async fn owners_of_open_runs(connection: &mut SqliteConnection) -> Result<Vec<OwnerId>, sqlx::Error> {
    let owners: Vec<String> = sqlx::query_scalar("select distinct owner from execution where status = 'running'")
        .fetch_all(connection)
        .await?;
    Ok(owners.iter().map(|owner| OwnerId::new(owner)).collect())
}

fn record(found: &SqliteRow) -> Stored<ExecutionRecord> {
    json::read("an execution record", &row::text(found, "record")?)
}
