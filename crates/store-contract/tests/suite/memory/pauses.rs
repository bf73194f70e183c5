//! Pauses.

use async_trait::async_trait;
use belljar_core::audit::AuditDraft;
use belljar_core::ports::{Pauses, Stored};
use belljar_executor::TenantId;

use super::{Defect, Handle};

#[async_trait]
impl Pauses for Handle {
    async fn is_paused(&self, tenant: &TenantId) -> Stored<bool> {
        Ok(self.read(|data| {
            let all = data.paused.contains(&None) && !self.has(Defect::PausesNobody);
            let any = !data.paused.is_empty() && self.has(Defect::PausesEverybody);
            all || any || data.paused.contains(&Some(tenant.clone()))
        }))
    }

    async fn set_paused(&self, tenant: Option<&TenantId>, paused: bool, audit: AuditDraft) -> Stored<bool> {
        self.change(|change| {
            let key = tenant.cloned();
            let changed =
                if paused { change.data.paused.insert(key) } else { change.data.paused.remove(&tenant.cloned()) };
            if changed {
                let chain = tenant.cloned().unwrap_or_else(|| audit.tenant().clone());
                change.append_for(&chain, audit)?;
            }
            Ok(changed)
        })
    }
}
