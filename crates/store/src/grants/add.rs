//! Adding a grant, or renewing the one with the same key, which keeps its id.

use async_trait::async_trait;
use belljar_core::audit::AuditDraft;
use belljar_core::grant::Grant;
use belljar_core::ports::Stored;
use belljar_core::time::Timestamp;
use serde_json::json;

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
        let replaced = if replace { revoke_others(transaction, &grant).await? } else { Vec::new() };
        let before = same_key(transaction, &grant).await?;
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
        let stored = super::grant(&found)?;
        // The entry tells of what is stored: a renewed grant keeps its id, and replacing revokes others.
        let audit = audit.with_fact("grant", json!(stored)).with_fact("replaced", json!(replaced));
        transaction.append(before.iter().fold(audit, |audit, before| audit.with_before(&json!(before)))).await?;
        Ok(stored)
    }
}

/// The grant with this key, as it stands.
async fn same_key(transaction: &mut Transaction<'_>, grant: &Grant) -> Stored<Option<Grant>> {
    let found = sqlx::query("select * from script_grant where tenant = ? and skill = ? and target = ? and pin is ?")
        .bind(grant.tenant.as_str())
        .bind(grant.skill_id.as_str())
        .bind(grant.target.as_str())
        .bind(grant.pin.as_ref().map(row::bytes_of))
        .fetch_optional(transaction.connection())
        .await
        .map_err(store_error)?;
    found.as_ref().map(super::grant).transpose()
}

/// Revokes the active ones of the same target and another pin; answers their ids.
async fn revoke_others(transaction: &mut Transaction<'_>, grant: &Grant) -> Stored<Vec<String>> {
    let now = grant.granted_at.microseconds();
    sqlx::query_scalar(
        "update script_grant set revoked_at = ?
         where tenant = ? and skill = ? and target = ? and pin is not ?
           and revoked_at is null and (expires_at is null or expires_at > ?)
         returning id",
    )
    .bind(now)
    .bind(grant.tenant.as_str())
    .bind(grant.skill_id.as_str())
    .bind(grant.target.as_str())
    .bind(grant.pin.as_ref().map(row::bytes_of))
    .bind(now)
    .fetch_all(transaction.connection())
    .await
    .map_err(store_error)
}
