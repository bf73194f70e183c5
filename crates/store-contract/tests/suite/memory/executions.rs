//! Runs.

use std::cmp::Reverse;

use async_trait::async_trait;
use belljar_core::audit::{AuditDraft, Receipt};
use belljar_core::execution::{ExecutionRecord, Status};
use belljar_core::ids::{OwnerId, SkillId};
use belljar_core::once::{Earlier, IdempotencyKey, Opened, REMEMBERED};
use belljar_core::ports::{Executions, StoreError, Stored};
use belljar_core::time::Timestamp;
use belljar_executor::{ExecutionId, SkillName, TenantId};

use super::{Data, Defect, Handle};

impl Handle {
    fn is_run(&self, run: &ExecutionRecord, tenant: &TenantId, id: &ExecutionId) -> bool {
        self.is_of(run, tenant) && run.execution_id == *id
    }

    fn is_of(&self, run: &ExecutionRecord, tenant: &TenantId) -> bool {
        run.tenant == *tenant || self.has(Defect::SharesRuns)
    }

    /// The run that has a key.
    fn under(
        &self,
        data: &Data,
        tenant: &TenantId,
        caller: &str,
        key: &IdempotencyKey,
        since: Timestamp,
    ) -> Option<Earlier> {
        let since = if self.has(Defect::RemembersForEver) { Timestamp::from_microseconds(i64::MIN) } else { since };
        let is_callers = |run: &ExecutionRecord| {
            (run.tenant == *tenant && run.caller == caller || self.has(Defect::SharesKeys)) && run.created_at >= since
        };
        let started =
            |run: &ExecutionRecord| run.status != Status::NotStarted || self.has(Defect::KeepsTheKeyOfWhatDidNotStart);
        let runs = data.runs.iter().rev().filter(|run| is_callers(run) && started(run));
        let mut keyed = runs.filter_map(|run| Some((run, run.once.as_ref().filter(|once| once.key == *key)?)));
        let (run, once) = keyed.next().filter(|_| !self.has(Defect::ForgetsKeys))?;
        Some(Earlier { execution_id: run.execution_id.clone(), call: once.call })
    }

    fn runs(&self, choose: impl Fn(&Data, &ExecutionRecord) -> bool) -> Vec<ExecutionRecord> {
        self.read(|data| data.runs.iter().filter(|run| choose(data, run)).cloned().collect())
    }
}

#[async_trait]
impl Executions for Handle {
    async fn open(&self, mut record: ExecutionRecord, audit: AuditDraft) -> Stored<Opened> {
        self.change(|change| {
            if let Some(once) = &record.once {
                let since = record.created_at.before(REMEMBERED);
                if let Some(earlier) = self.under(&change.known, &record.tenant, &record.caller, &once.key, since) {
                    return Ok(Opened::Earlier(earlier));
                }
            }
            let is_same = |run: &ExecutionRecord| self.is_run(run, &record.tenant, &record.execution_id);
            if change.data.runs.iter().any(is_same) && !self.has(Defect::OpensAgain) {
                return Err(StoreError::unavailable(format!("there is a run {}", record.execution_id)));
            }
            change.data.runs.retain(|run| !is_same(run));
            let receipt = Receipt::from(&change.append_for(&record.tenant.clone(), audit)?);
            record.receipt = (!self.has(Defect::RecordsNoReceipt)).then(|| receipt.clone());
            change.data.runs.push(record);
            Ok(Opened::Now(receipt))
        })
    }

    async fn earlier(
        &self,
        tenant: &TenantId,
        caller: &str,
        key: &IdempotencyKey,
        since: Timestamp,
    ) -> Stored<Option<Earlier>> {
        Ok(self.read(|data| self.under(data, tenant, caller, key, since)))
    }

    async fn close(&self, mut record: ExecutionRecord, audit: AuditDraft) -> Stored<bool> {
        self.change(|change| {
            let (tenant, id) = (record.tenant.clone(), record.execution_id.clone());
            let mut runs = change.data.runs.iter_mut();
            let Some(run) = runs.find(|run| self.is_run(run, &tenant, &id)) else {
                return Ok(self.has(Defect::ClosesNothing));
            };
            if run.status != Status::Running && !self.has(Defect::ClosesAgain) {
                return Ok(false);
            }
            if record.receipt.is_none() && !self.has(Defect::ClosesWithoutReceipt) {
                record.receipt.clone_from(&run.receipt);
            }
            *run = record;
            change.append_for(&tenant, audit)?;
            Ok(true)
        })
    }

    async fn get(&self, tenant: &TenantId, id: &ExecutionId) -> Stored<Option<ExecutionRecord>> {
        Ok(self.runs(|_, run| self.is_run(run, tenant, id)).pop())
    }

    async fn list(&self, tenant: &TenantId, limit: u32) -> Stored<Vec<ExecutionRecord>> {
        let mut runs = self.runs(|_, run| self.is_of(run, tenant));
        runs.sort_by_key(|run| (run.created_at, run.execution_id.to_string()));
        if !self.has(Defect::ListsOldestFirst) {
            runs.reverse();
        }
        runs.truncate(limit.try_into().unwrap());
        Ok(runs)
    }

    async fn recent(
        &self,
        tenant: &TenantId,
        caller: &str,
        slug: &SkillName,
        skill: Option<&SkillId>,
        limit: u32,
    ) -> Stored<Vec<ExecutionRecord>> {
        let is_its =
            |run: &ExecutionRecord| run.tenant == *tenant && run.slug == *slug && run.skill_id.as_ref() == skill;
        let is_callers = |run: &ExecutionRecord| run.caller == caller || self.has(Defect::RecallsEverybodysRuns);
        let is_over = |run: &ExecutionRecord| run.status != Status::Running || self.has(Defect::RecallsOpenRuns);
        let mut runs = self.runs(|_, run| is_its(run) && is_callers(run) && is_over(run));
        runs.sort_by_key(|run| Reverse((run.created_at, run.execution_id.to_string())));
        runs.truncate(limit.try_into().unwrap());
        Ok(runs)
    }

    async fn running(&self, tenant: &TenantId) -> Stored<Vec<ExecutionRecord>> {
        let mut runs = self.runs(|_, run| self.is_of(run, tenant) && run.status == Status::Running);
        runs.sort_by_key(|run| run.created_at);
        Ok(runs)
    }

    async fn request_cancel(&self, tenant: &TenantId, id: &ExecutionId, audit: AuditDraft) -> Stored<bool> {
        self.change(|change| {
            let mut runs = change.data.runs.iter();
            let is_open = runs.any(|run| self.is_run(run, tenant, id) && run.status == Status::Running);
            let asked = is_open && (change.data.cancels.insert(id.clone()) || self.has(Defect::AsksAgain));
            if asked {
                change.append_for(tenant, audit)?;
            }
            Ok(asked)
        })
    }

    async fn cancel_requests(&self) -> Stored<Vec<ExecutionId>> {
        let hears = |run: &ExecutionRecord| run.owner == self.owner || self.has(Defect::TellsEverybody);
        let asked = self
            .runs(|data, run| hears(run) && run.status == Status::Running && data.cancels.contains(&run.execution_id));
        Ok(asked.into_iter().map(|run| run.execution_id).collect())
    }

    async fn orphans(&self) -> Stored<Vec<ExecutionRecord>> {
        let living = self.shared.living.lock().unwrap().clone();
        let is_dead =
            |owner: &OwnerId| *owner != self.owner && (!living.contains(owner) || self.has(Defect::BuriesTheLiving));
        let mut orphans = self.runs(|_, run| run.status == Status::Running && is_dead(&run.owner));
        orphans.sort_by_key(|run| Reverse(run.created_at));
        Ok(orphans)
    }

    fn owner(&self) -> &OwnerId {
        &self.owner
    }
}
