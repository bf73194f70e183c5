//! The trail.

use std::collections::BTreeMap;

use async_trait::async_trait;
use belljar_core::audit::{AuditDraft, AuditEntry, Head, Receipt};
use belljar_core::ports::{Audit, Stored};
use belljar_executor::TenantId;

use super::{Defect, Handle};

#[async_trait]
impl Audit for Handle {
    async fn append(&self, draft: AuditDraft) -> Stored<Receipt> {
        self.change(|change| change.append(draft).map(|entry| Receipt::from(&entry)))
    }

    async fn page(&self, tenant: &TenantId, after: u64, limit: u32) -> Stored<Vec<AuditEntry>> {
        let limit = if self.has(Defect::IgnoresTheLimit) { usize::MAX } else { limit.try_into().unwrap() };
        Ok(self.read(|data| {
            let trails = data.trails.iter();
            let shown = trails.filter(|(of, _)| *of == tenant || self.has(Defect::ShowsOneTrail));
            let entries = shown.flat_map(|(_, trail)| trail).filter(|entry| entry.sequence > after);
            entries.take(limit).cloned().collect()
        }))
    }

    async fn head(&self, tenant: &TenantId) -> Stored<Head> {
        let behind = usize::from(self.has(Defect::LagsBehind));
        Ok(self.read(|data| {
            let trail = data.trails.get(tenant);
            let last = trail.and_then(|trail| trail.iter().rev().nth(behind));
            last.map_or(Head::GENESIS, AuditEntry::head)
        }))
    }

    async fn copied_heads(&self) -> Stored<BTreeMap<TenantId, Head>> {
        Ok(self.read(|data| data.copied_heads.clone()))
    }

    async fn tenants(&self) -> Stored<Vec<TenantId>> {
        Ok(self.read(|data| {
            if self.has(Defect::NamesTenantsOften) {
                return data.trails.values().flatten().map(|entry| entry.tenant.clone()).collect();
            }
            data.trails.keys().cloned().collect()
        }))
    }
}
