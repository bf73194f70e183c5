//! Whether runs are paused.

use async_trait::async_trait;
use belljar_core::audit::{AuditDraft, AuditEntry};
use belljar_core::ports::{Pauses, Stored};
use belljar_executor::TenantId;
use sqlx::SqliteConnection;

use crate::error::unavailable;
use crate::store::Store;
use crate::writer::{Change, Done, mismatch};

/// Stands for every tenant.
const ALL: &str = "*";

/// Pauses or resumes.
pub(crate) async fn set(
    connection: &mut SqliteConnection,
    tenant: Option<&TenantId>,
    paused: bool,
    draft: AuditDraft,
    entries: &mut Vec<AuditEntry>,
) -> Stored<bool> {
    let tenant = tenant.map_or(ALL, TenantId::as_str);
    let query = if paused {
        sqlx::query("insert into pauses (tenant, paused_at) values ($1, unixepoch() * 1000000) on conflict do nothing")
    } else {
        sqlx::query("delete from pauses where tenant = $1")
    };
    let changed = query.bind(tenant).execute(&mut *connection).await.map_err(unavailable)?;
    if changed.rows_affected() == 0 {
        return Ok(false);
    }
    entries.push(crate::audit::append(connection, draft).await?);
    Ok(true)
}

#[async_trait]
impl Pauses for Store {
    async fn is_paused(&self, tenant: &TenantId) -> Stored<bool> {
        sqlx::query_scalar("select exists (select 1 from pauses where tenant in ($1, $2))")
            .bind(tenant.as_str())
            .bind(ALL)
            .fetch_one(self.readers()?)
            .await
            .map_err(unavailable)
    }

    async fn set_paused(&self, tenant: Option<&TenantId>, paused: bool, audit: AuditDraft) -> Stored<bool> {
        match self.write(Change::Pause { tenant: tenant.cloned(), paused, audit }).await? {
            Done::Changed(changed) => Ok(changed),
            _ => Err(mismatch()),
        }
    }
}
