//! Grants: one row for each key (tenant, skill, target, pin), stamped and renewed, never deleted.

mod add;
mod pending;
mod revoke;

use async_trait::async_trait;
use belljar_core::audit::AuditDraft;
use belljar_core::grant::{Grant, GrantTarget, PendingGrant};
use belljar_core::ids::{GrantId, SkillId};
use belljar_core::ports::{Grants, Stored};
use belljar_core::time::Timestamp;
use belljar_executor::{LogicalPath, TenantId};
use sqlx::sqlite::SqliteRow;

use self::add::Add;
use self::revoke::Revoke;
use crate::cause::store_error;
use crate::row;
use crate::store::Store;

#[async_trait]
impl Grants for Store {
    async fn active(
        &self,
        tenant: &TenantId,
        skill: &SkillId,
        path: &LogicalPath,
        now: Timestamp,
    ) -> Stored<Vec<Grant>> {
        let mut reader = self.reader().await?;
        let rows = sqlx::query(
            "select * from script_grant
             where tenant = ? and skill = ? and target in (?, '*')
               and revoked_at is null and (expires_at is null or expires_at > ?)
             order by granted_at desc, id desc",
        )
        .bind(tenant.as_str())
        .bind(skill.as_str())
        .bind(path.as_str())
        .bind(now.microseconds())
        .fetch_all(reader.connection())
        .await
        .map_err(store_error)?;
        reader.give_back();
        rows.iter().map(grant).collect()
    }

    async fn get(&self, tenant: &TenantId, id: &GrantId) -> Stored<Option<Grant>> {
        let mut reader = self.reader().await?;
        let found = sqlx::query("select * from script_grant where tenant = ? and id = ?")
            .bind(tenant.as_str())
            .bind(id.as_str())
            .fetch_optional(reader.connection())
            .await
            .map_err(store_error)?;
        reader.give_back();
        found.as_ref().map(grant).transpose()
    }

    async fn list(&self, tenant: &TenantId) -> Stored<Vec<Grant>> {
        let mut reader = self.reader().await?;
        let rows = sqlx::query("select * from script_grant where tenant = ? order by granted_at desc, id desc")
            .bind(tenant.as_str())
            .fetch_all(reader.connection())
            .await
            .map_err(store_error)?;
        reader.give_back();
        rows.iter().map(grant).collect()
    }

    async fn refuse(&self, pending: PendingGrant, audit: AuditDraft) -> Stored<()> {
        self.change(pending::Refuse { pending, audit }).await
    }

    async fn pending(&self, tenant: &TenantId, now: Timestamp) -> Stored<Vec<PendingGrant>> {
        pending::list(self, tenant, now).await
    }

    async fn add(&self, grant: Grant, replace: bool, audit: AuditDraft) -> Stored<Grant> {
        self.change(Add { grant, replace, audit }).await
    }

    async fn revoke(
        &self,
        tenant: &TenantId,
        ids: &[GrantId],
        now: Timestamp,
        audit: AuditDraft,
    ) -> Stored<Vec<Grant>> {
        self.change(Revoke { tenant: tenant.clone(), ids: ids.to_vec(), now, audit }).await
    }
}

fn grant(found: &SqliteRow) -> Stored<Grant> {
    Ok(Grant {
        id: GrantId::new(&row::text(found, "id")?),
        tenant: row::tenant(found, "tenant")?,
        skill_id: SkillId::new(&row::text(found, "skill")?),
        target: GrantTarget::from(row::text(found, "target")?),
        pin: row::optional_digest(found, "pin")?,
        granted_by: row::text(found, "granted_by")?,
        granted_at: row::time(found, "granted_at")?,
        expires_at: row::optional_time(found, "expires_at")?,
        revoked_at: row::optional_time(found, "revoked_at")?,
    })
}
