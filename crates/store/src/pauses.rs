//! Whether runs are paused: a row for each tenant that is, and one named `*` for all.

use async_trait::async_trait;
use belljar_core::audit::AuditDraft;
use belljar_core::ports::{Pauses, Stored};
use belljar_executor::TenantId;

use crate::cause::store_error;
use crate::store::Store;
use crate::writer::{Change, Transaction, same_tenant};

/// What stands for all tenants; no tenant's id has this character.
const ALL: &str = "*";

struct SetPaused {
    tenant: Option<TenantId>,
    paused: bool,
    audit: AuditDraft,
}

#[async_trait]
impl Change for SetPaused {
    type Answer = bool;

    async fn apply(self, transaction: &mut Transaction<'_>) -> Stored<bool> {
        if let Some(tenant) = &self.tenant {
            same_tenant(tenant, &self.audit)?;
        }
        let sql = if self.paused {
            "insert into pause (tenant) values (?) on conflict do nothing"
        } else {
            "delete from pause where tenant = ?"
        };
        let changed = sqlx::query(sql)
            .bind(self.tenant.as_ref().map_or(ALL, TenantId::as_str).to_owned())
            .execute(transaction.connection())
            .await
            .map_err(store_error)?
            .rows_affected();
        if changed > 0 {
            transaction.append(self.audit).await?;
        }
        Ok(changed > 0)
    }
}

#[async_trait]
impl Pauses for Store {
    async fn is_paused(&self, tenant: &TenantId) -> Stored<bool> {
        let mut reader = self.reader().await?;
        let paused = sqlx::query_scalar("select exists (select 1 from pause where tenant in (?, ?))")
            .bind(tenant.as_str())
            .bind(ALL)
            .fetch_one(reader.connection())
            .await
            .map_err(store_error)?;
        reader.give_back();
        Ok(paused)
    }

    async fn set_paused(&self, tenant: Option<&TenantId>, paused: bool, audit: AuditDraft) -> Stored<bool> {
        self.change(SetPaused { tenant: tenant.cloned(), paused, audit }).await
    }
}
