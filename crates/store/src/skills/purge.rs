//! Purging: the one way to delete. Files that another revision has stay.

use async_trait::async_trait;
use belljar_core::audit::AuditDraft;
use belljar_core::ids::SkillId;
use belljar_core::ports::Stored;
use belljar_executor::TenantId;

use super::index;
use crate::cause::store_error;
use crate::writer::{Change, Transaction, same_tenant};

/// In this order, so that nothing refers to what is gone. Each takes the tenant and the skill.
const STEPS: [&str; 6] = [
    "update skill set published_revision = null where tenant = ?1 and id = ?2",
    "delete from revision_file where tenant = ?1
         and revision in (select id from revision where tenant = ?1 and skill = ?2)",
    "delete from revision where tenant = ?1 and skill = ?2",
    "delete from skill_use where tenant = ?1 and skill = ?2",
    "delete from skill where tenant = ?1 and id = ?2",
    "delete from blob where tenant = ?1 and ?2 is not null and not exists (
         select 1 from revision_file as file where file.tenant = blob.tenant and file.sha256 = blob.sha256)",
];

pub(super) struct Purge {
    tenant: TenantId,
    skill: SkillId,
    audit: AuditDraft,
}

impl Purge {
    pub(super) fn checked(tenant: &TenantId, skill: &SkillId, audit: AuditDraft) -> Stored<Self> {
        same_tenant(tenant, &audit)?;
        Ok(Self { tenant: tenant.clone(), skill: skill.clone(), audit })
    }
}

#[async_trait]
impl Change for Purge {
    type Answer = bool;

    async fn apply(self, transaction: &mut Transaction<'_>) -> Stored<bool> {
        let is_there = sqlx::query("select 1 from skill where tenant = ? and id = ?")
            .bind(self.tenant.as_str())
            .bind(self.skill.as_str())
            .fetch_optional(transaction.connection())
            .await
            .map_err(store_error)?
            .is_some();
        if !is_there {
            return Ok(false);
        }
        index::forget(transaction.connection(), &self.tenant, &self.skill).await?;
        for step in STEPS {
            sqlx::query(step)
                .bind(self.tenant.as_str())
                .bind(self.skill.as_str())
                .execute(transaction.connection())
                .await
                .map_err(store_error)?;
        }
        transaction.append(self.audit).await?;
        Ok(true)
    }
}
