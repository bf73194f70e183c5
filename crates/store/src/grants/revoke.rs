//! Stamping grants as revoked.

use async_trait::async_trait;
use belljar_core::audit::AuditDraft;
use belljar_core::grant::Grant;
use belljar_core::ids::GrantId;
use belljar_core::ports::Stored;
use belljar_core::time::Timestamp;
use belljar_executor::TenantId;

use crate::cause::store_error;
use crate::json;
use crate::writer::{Change, Transaction, same_tenant};

pub(super) struct Revoke {
    pub(super) tenant: TenantId,
    pub(super) ids: Vec<GrantId>,
    pub(super) now: Timestamp,
    pub(super) audit: AuditDraft,
}

#[async_trait]
impl Change for Revoke {
    type Answer = Vec<Grant>;

    async fn apply(self, transaction: &mut Transaction<'_>) -> Stored<Vec<Grant>> {
        let Self { tenant, ids, now, audit } = self;
        same_tenant(&tenant, &audit)?;
        let rows = sqlx::query(
            "update script_grant set revoked_at = ?
             where tenant = ? and id in (select value from json_each(?))
               and revoked_at is null and (expires_at is null or expires_at > ?)
             returning *",
        )
        .bind(now.microseconds())
        .bind(tenant.as_str())
        .bind(json::write(&ids)?)
        .bind(now.microseconds())
        .fetch_all(transaction.connection())
        .await
        .map_err(store_error)?;
        let mut revoked = rows.iter().map(super::grant).collect::<Stored<Vec<_>>>()?;
        revoked.sort_by_cached_key(|grant| ids.iter().position(|id| *id == grant.id));
        if !revoked.is_empty() {
            // Only what this change revoked: another may have come first.
            let ids: Vec<_> = revoked.iter().map(|grant| &grant.id).collect();
            transaction.append(audit.with_fact("revoked", serde_json::json!(ids))).await?;
        }
        Ok(revoked)
    }
}
