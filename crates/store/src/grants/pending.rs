//! Refusals for want of a grant: the entry, and what it would take, in one transaction.

use async_trait::async_trait;
use belljar_core::audit::AuditDraft;
use belljar_core::grant::PendingGrant;
use belljar_core::ids::{PendingId, RevisionId, SkillId};
use belljar_core::ports::Stored;
use belljar_core::time::Timestamp;
use belljar_executor::{LogicalPath, SkillName, TenantId};
use sqlx::sqlite::SqliteRow;

use crate::cause::store_error;
use crate::row;
use crate::store::Store;
use crate::writer::{Change, Transaction, same_tenant};

pub(super) struct Refuse {
    pub(super) pending: PendingGrant,
    pub(super) audit: AuditDraft,
}

#[async_trait]
impl Change for Refuse {
    type Answer = ();

    async fn apply(self, transaction: &mut Transaction<'_>) -> Stored<()> {
        let Self { pending, audit } = self;
        same_tenant(&pending.tenant, &audit)?;
        sqlx::query(
            "insert into pending_grant
                 (tenant, id, skill, slug, script, pin, revision, reason, asked_by, asked, first_at, last_at)
             values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 1, ?10, ?10)
             on conflict do update set
                 revision = excluded.revision, reason = excluded.reason, asked_by = excluded.asked_by,
                 asked = asked + 1, last_at = excluded.last_at",
        )
        .bind(pending.tenant.as_str())
        .bind(pending.id.as_str())
        .bind(pending.skill_id.as_str())
        .bind(pending.slug.as_str())
        .bind(pending.script.as_str())
        .bind(row::bytes_of(&pending.pin))
        .bind(pending.revision_id.as_ref().map(RevisionId::as_str))
        .bind(pending.reason.as_str())
        .bind(pending.asked_by.as_str())
        .bind(pending.last_at.microseconds())
        .execute(transaction.connection())
        .await
        .map_err(store_error)?;
        transaction.append(audit).await?;
        Ok(())
    }
}

/// What still waits: nothing that a grant covers by now.
pub(super) async fn list(store: &Store, tenant: &TenantId, now: Timestamp) -> Stored<Vec<PendingGrant>> {
    let mut reader = store.reader().await?;
    let rows = sqlx::query(
        "select * from pending_grant as pending where tenant = ?1 and not exists (
             select 1 from script_grant as given
             where given.tenant = ?1 and given.skill = pending.skill and given.target = pending.script
               and given.pin = pending.pin and given.revoked_at is null
               and (given.expires_at is null or given.expires_at > ?2))
         order by last_at desc, id",
    )
    .bind(tenant.as_str())
    .bind(now.microseconds())
    .fetch_all(reader.connection())
    .await
    .map_err(store_error)?;
    reader.give_back();
    rows.iter().map(pending).collect()
}

fn pending(found: &SqliteRow) -> Stored<PendingGrant> {
    Ok(PendingGrant {
        id: PendingId::new(&row::text(found, "id")?),
        tenant: row::tenant(found, "tenant")?,
        skill_id: SkillId::new(&row::text(found, "skill")?),
        slug: row::parsed("slug", SkillName::parse(&row::text(found, "slug")?))?,
        script: row::parsed("script", LogicalPath::parse(&row::text(found, "script")?))?,
        pin: row::digest(found, "pin")?,
        revision_id: row::optional_text(found, "revision")?.map(|id| RevisionId::new(&id)),
        reason: row::text(found, "reason")?,
        asked_by: row::text(found, "asked_by")?,
        asked: row::number(found, "asked")?,
        first_at: row::time(found, "first_at")?,
        last_at: row::time(found, "last_at")?,
    })
}
