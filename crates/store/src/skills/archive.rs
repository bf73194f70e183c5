//! Archiving: nothing is deleted.

use async_trait::async_trait;
use belljar_core::audit::AuditDraft;
use belljar_core::ids::SkillId;
use belljar_core::ports::Stored;
use belljar_executor::TenantId;

use crate::cause::store_error;
use crate::writer::{Change, Transaction, same_tenant};

pub(super) struct Archive {
    tenant: TenantId,
    skill: SkillId,
    archived: bool,
    audit: AuditDraft,
}

impl Archive {
    pub(super) fn checked(tenant: &TenantId, skill: &SkillId, archived: bool, audit: AuditDraft) -> Stored<Self> {
        same_tenant(tenant, &audit)?;
        Ok(Self { tenant: tenant.clone(), skill: skill.clone(), archived, audit })
    }
}

#[async_trait]
impl Change for Archive {
    type Answer = bool;

    async fn apply(self, transaction: &mut Transaction<'_>) -> Stored<bool> {
        let changed = sqlx::query(
            "update skill set archived_at = case when ?3 then ?4 end
             where tenant = ?1 and id = ?2 and (archived_at is not null) <> ?3",
        )
        .bind(self.tenant.as_str())
        .bind(self.skill.as_str())
        .bind(self.archived)
        .bind(self.audit.created_at().microseconds())
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
