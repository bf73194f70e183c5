//! Publishing: one pointer moves.

use async_trait::async_trait;
use belljar_core::audit::AuditDraft;
use belljar_core::ids::{RevisionId, SkillId};
use belljar_core::ports::Stored;
use belljar_executor::TenantId;

use super::index;
use crate::cause::store_error;
use crate::row;
use crate::writer::{Change, Transaction, same_tenant};

pub(super) struct Publish {
    tenant: TenantId,
    skill: SkillId,
    revision: RevisionId,
    audit: AuditDraft,
}

impl Publish {
    pub(super) fn checked(
        tenant: &TenantId,
        skill: &SkillId,
        revision: &RevisionId,
        audit: AuditDraft,
    ) -> Stored<Self> {
        same_tenant(tenant, &audit)?;
        Ok(Self { tenant: tenant.clone(), skill: skill.clone(), revision: revision.clone(), audit })
    }
}

#[async_trait]
impl Change for Publish {
    type Answer = Option<bool>;

    async fn apply(self, transaction: &mut Transaction<'_>) -> Stored<Option<bool>> {
        let Self { tenant, skill, revision, audit } = self;
        let found = sqlx::query(
            "select skill.published_revision from revision
             join skill on skill.tenant = revision.tenant and skill.id = revision.skill
             where revision.tenant = ? and revision.skill = ? and revision.id = ?",
        )
        .bind(tenant.as_str())
        .bind(skill.as_str())
        .bind(revision.as_str())
        .fetch_optional(transaction.connection())
        .await
        .map_err(store_error)?;
        let Some(found) = found else { return Ok(None) };
        let before = row::optional_text(&found, "published_revision")?;
        if before.as_deref() == Some(revision.as_str()) {
            return Ok(Some(false));
        }
        point(transaction, &tenant, &skill, &revision).await?;
        transaction.append(audit.with_before(&serde_json::json!({ "published": before }))).await?;
        Ok(Some(true))
    }
}

/// Moves the pointer.
pub(super) async fn point(
    transaction: &mut Transaction<'_>,
    tenant: &TenantId,
    skill: &SkillId,
    revision: &RevisionId,
) -> Stored<()> {
    sqlx::query("update skill set published_revision = ? where tenant = ? and id = ?")
        .bind(revision.as_str())
        .bind(tenant.as_str())
        .bind(skill.as_str())
        .execute(transaction.connection())
        .await
        .map_err(store_error)?;
    index::refresh(transaction.connection(), tenant, skill).await
}
