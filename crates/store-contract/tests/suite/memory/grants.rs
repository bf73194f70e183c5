//! Grants.

use std::cmp::Reverse;

use async_trait::async_trait;
use belljar_core::audit::AuditDraft;
use belljar_core::grant::{Grant, GrantTarget, PendingGrant};
use belljar_core::ids::{GrantId, SkillId};
use belljar_core::ports::{Grants, Stored};
use belljar_core::time::Timestamp;
use belljar_executor::{LogicalPath, TenantId};
use serde_json::json;

use super::{Change, Defect, Handle};

impl Handle {
    fn counts(&self, grant: &Grant, now: Timestamp) -> bool {
        let late = self.has(Defect::ExpiresLate) && grant.expires_at == Some(now) && grant.revoked_at.is_none();
        let revoked = self.has(Defect::CountsTheRevoked) && grant.revoked_at.is_some();
        grant.is_active(now) || late || revoked
    }

    fn has_grant(&self, tenant: &TenantId, grant: &Grant) -> bool {
        grant.tenant == *tenant || self.has(Defect::SharesGrants)
    }

    fn grants(&self, tenant: &TenantId, choose: impl Fn(&Grant) -> bool) -> Vec<Grant> {
        let chosen = |grant: &&Grant| self.has_grant(tenant, grant) && choose(grant);
        let mut grants: Vec<_> = self.read(|data| data.grants.iter().filter(chosen).cloned().collect());
        if !self.has(Defect::ListsGrantsAsTheyCame) {
            grants.sort_by_key(|grant| Reverse((grant.granted_at, grant.id.clone())));
        }
        grants
    }
}

fn has_target(grant: &Grant, other: &Grant) -> bool {
    (&grant.tenant, &grant.skill_id, &grant.target) == (&other.tenant, &other.skill_id, &other.target)
}

/// Revokes the active ones of the same target and another pin.
fn replace(change: &mut Change, grant: &Grant) -> Vec<GrantId> {
    let every = change.has(Defect::ReplacesEveryTarget);
    let others = change.data.grants.iter_mut().filter(|other| {
        let is_other = other.pin != grant.pin && (has_target(other, grant) || every);
        is_other && other.is_active(grant.granted_at)
    });
    others
        .map(|other| {
            other.revoked_at = Some(grant.granted_at);
            other.id.clone()
        })
        .collect()
}

fn renewed(change: &Change, before: &Grant, grant: &Grant) -> Grant {
    let revoked_at = if change.has(Defect::RenewsTheRevoked) { before.revoked_at } else { None };
    Grant { id: before.id.clone(), revoked_at, ..grant.clone() }
}

#[async_trait]
impl Grants for Handle {
    async fn active(
        &self,
        tenant: &TenantId,
        skill: &SkillId,
        path: &LogicalPath,
        now: Timestamp,
    ) -> Stored<Vec<Grant>> {
        let covers = |target: &GrantTarget| match target {
            GrantTarget::AllScripts => !self.has(Defect::IgnoresGrantsForAll),
            own => *own == GrantTarget::script(path),
        };
        Ok(self.grants(tenant, |grant| grant.skill_id == *skill && covers(&grant.target) && self.counts(grant, now)))
    }

    async fn get(&self, tenant: &TenantId, id: &GrantId) -> Stored<Option<Grant>> {
        Ok(self.grants(tenant, |grant| grant.id == *id).pop())
    }

    async fn list(&self, tenant: &TenantId) -> Stored<Vec<Grant>> {
        Ok(self.grants(tenant, |_| true))
    }

    async fn refuse(&self, pending: PendingGrant, audit: AuditDraft) -> Stored<()> {
        self.change(|change| {
            let tenant = pending.tenant.clone();
            let counts = !change.has(Defect::CountsOnce);
            let mut all = change.data.pending.iter_mut();
            match all.find(|other| (&other.tenant, &other.id) == (&tenant, &pending.id)) {
                Some(known) => {
                    let (asked, first_at) = (known.asked + u32::from(counts), known.first_at);
                    *known = PendingGrant { asked, first_at, ..pending };
                }
                None => change.data.pending.push(PendingGrant { asked: 1, first_at: pending.last_at, ..pending }),
            }
            change.append_for(&tenant, audit).map(drop)
        })
    }

    async fn pending(&self, tenant: &TenantId, now: Timestamp) -> Stored<Vec<PendingGrant>> {
        let covers = |grant: &Grant, pending: &PendingGrant| {
            let is_key = grant.tenant == pending.tenant && grant.skill_id == pending.skill_id;
            let is_script = grant.target == GrantTarget::script(&pending.script);
            is_key && is_script && grant.pin == Some(pending.pin) && self.counts(grant, now)
        };
        Ok(self.read(|data| {
            let is_covered = |pending: &PendingGrant| data.grants.iter().any(|grant| covers(grant, pending));
            let all = data.pending.iter().filter(|pending| pending.tenant == *tenant);
            let waiting = all.filter(|pending| !is_covered(pending) || self.has(Defect::KeepsWaiting));
            let mut waiting: Vec<_> = waiting.cloned().collect();
            waiting.sort_by_key(|pending| Reverse(pending.last_at));
            waiting
        }))
    }

    async fn add(&self, grant: Grant, replaces: bool, audit: AuditDraft) -> Stored<Grant> {
        self.change(|change| {
            let replaced = if replaces { replace(change, &grant) } else { Vec::new() };
            let one = change.has(Defect::HasOneGrantForATarget);
            let is_key = |other: &Grant| has_target(other, &grant) && (one || other.pin == grant.pin);
            let before = change.known.grants.iter().find(|other| is_key(other)).cloned();
            let stored = before.as_ref().map_or_else(|| grant.clone(), |before| renewed(change, before, &grant));
            change.data.grants.retain(|other| other.id != stored.id);
            change.data.grants.push(stored.clone());
            let mut audit = audit;
            if !change.has(Defect::TellsNoFacts) {
                audit = audit.with_fact("grant", json!(stored)).with_fact("replaced", json!(replaced));
                audit = before.iter().fold(audit, |audit, before| audit.with_before(&json!(before)));
            }
            change.append_for(&grant.tenant, audit)?;
            Ok(stored)
        })
    }

    async fn revoke(
        &self,
        tenant: &TenantId,
        ids: &[GrantId],
        now: Timestamp,
        audit: AuditDraft,
    ) -> Stored<Vec<Grant>> {
        self.change(|change| {
            let mut revoked = Vec::new();
            for id in ids {
                let mut grants = change.data.grants.iter_mut();
                let found = grants.find(|grant| self.has_grant(tenant, grant) && grant.id == *id);
                let Some(grant) = found else { continue };
                if grant.is_active(now) || self.has(Defect::RevokesAgain) {
                    grant.revoked_at = Some(now);
                    revoked.push(grant.clone());
                }
            }
            if !revoked.is_empty() {
                let ids: Vec<_> = revoked.iter().map(|grant| &grant.id).collect();
                change.append_for(tenant, audit.with_fact("revoked", json!(ids)))?;
            }
            Ok(revoked)
        })
    }
}
