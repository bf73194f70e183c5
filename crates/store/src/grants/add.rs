//! Adding a grant, or renewing the one with the same key, which keeps its id.

use async_trait::async_trait;
use belljar_core::audit::AuditDraft;
use belljar_core::grant::Grant;
use belljar_core::ports::Stored;
use belljar_core::time::Timestamp;

use crate::cause::store_error;
use crate::row;
use crate::writer::{Change, Transaction, same_tenant};

pub(super) struct Add {
    pub(super) grant: Grant,
    pub(super) replace: bool,
    pub(super) audit: AuditDraft,
}

#[async_trait]
impl Change for Add {
    type Answer = Grant;

    async fn apply(self, transaction: &mut Transaction<'_>) -> Stored<Grant> {
        let Self { grant, replace, audit } = self;
        same_tenant(&grant.tenant, &audit)?;
        if replace {
            revoke_others(transaction, &grant).await?;
        }
        let found = sqlx::query(
            "insert into script_grant (tenant, id, skill, target, pin, granted_by, granted_at, expires_at)
             values (?, ?, ?, ?, ?, ?, ?, ?)
             on conflict (tenant, skill, target, coalesce(pin, x'')) do update set
                 granted_by = excluded.granted_by, granted_at = excluded.granted_at,
                 expires_at = excluded.expires_at, revoked_at = null
             returning *",
        )
        .bind(grant.tenant.as_str())
        .bind(grant.id.as_str())
        .bind(grant.skill_id.as_str())
        .bind(grant.target.as_str())
        .bind(grant.pin.as_ref().map(row::bytes_of))
        .bind(grant.granted_by.as_str())
        .bind(grant.granted_at.microseconds())
        .bind(grant.expires_at.map(Timestamp::microseconds))
        .fetch_one(transaction.connection())
        .await
        .map_err(store_error)?;
        transaction.append(audit).await?;
        super::grant(&found)
    }
}

async fn revoke_others(transaction: &mut Transaction<'_>, grant: &Grant) -> Stored<()> {
    let now = grant.granted_at.microseconds();
    sqlx::query(
        "update script_grant set revoked_at = ?
         where tenant = ? and skill = ? and target = ? and pin is not ?
           and revoked_at is null and (expires_at is null or expires_at > ?)",
    )
    .bind(now)
    .bind(grant.tenant.as_str())
    .bind(grant.skill_id.as_str())
    .bind(grant.target.as_str())
    .bind(grant.pin.as_ref().map(row::bytes_of))
    .bind(now)
    .execute(transaction.connection())
    .await
    .map(drop)
    .map_err(store_error)
}
