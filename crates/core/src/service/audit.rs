//! Reading and checking the audit trail.

use std::collections::BTreeSet;

use belljar_executor::ExecutionId;

use super::{Belljar, need};
use crate::audit::{AuditEntry, Head, Verification, Verifier};
use crate::caller::{Caller, Scope};
use crate::execution::Status;
use crate::refusal::Refusal;

/// How many entries are read at once.
const PAGE: u32 = 500;

/// A page of the trail.
#[derive(Clone, Debug)]
pub struct AuditPage {
    /// The entries, in order.
    pub entries: Vec<AuditEntry>,
    /// The sequence number to go on after; none at the end.
    pub next: Option<u64>,
}

impl Belljar {
    /// The tenant's entries after a sequence number.
    ///
    /// # Errors
    /// `ACCESS_DENIED`, `STORE_UNAVAILABLE`.
    pub async fn audit_page(&self, caller: &Caller, after: u64) -> Result<AuditPage, Refusal> {
        need(caller, Scope::SkillsGrant)?;
        let entries = self.world.ports.audit.page(caller.tenant(), after, PAGE).await?;
        let next = entries.last().filter(|_| entries.len() == PAGE as usize).map(|entry| entry.sequence);
        Ok(AuditPage { entries, next })
    }

    /// The head of the tenant's trail.
    ///
    /// # Errors
    /// `ACCESS_DENIED`, `STORE_UNAVAILABLE`.
    pub async fn audit_head(&self, caller: &Caller) -> Result<Head, Refusal> {
        need(caller, Scope::SkillsGrant)?;
        Ok(self.world.ports.audit.head(caller.tenant()).await?)
    }

    /// Checks the tenant's whole trail against itself, against the copied head and against a head that
    /// the caller kept.
    ///
    /// # Errors
    /// `ACCESS_DENIED`, `STORE_UNAVAILABLE`.
    pub async fn verify_audit(&self, caller: &Caller, kept: Option<Head>) -> Result<Verification, Refusal> {
        need(caller, Scope::SkillsGrant)?;
        let audit = &self.world.ports.audit;
        // The copy is read before the trail: a copy made later would be ahead of what is read here.
        let copied = audit.copied_heads().await?.get(caller.tenant()).copied();
        let mut verifier = Verifier::new(copied.into_iter().chain(kept).collect());
        // A run may end between the reading of the trail and the question whether it still runs: then its
        // outcome stands behind what was read. So the tail is read again until nothing new comes, and each
        // round judges only by what was running before it.
        let mut running = BTreeSet::new();
        let mut after = 0;
        loop {
            if !self.read_tail(caller, &mut verifier, &mut after).await? {
                return Ok(verifier.finish(|execution| running.contains(execution)));
            }
            running = self.running(caller, &verifier).await?;
            if verifier.open_runs().iter().all(|execution| running.contains(execution)) {
                return Ok(verifier.finish(|_| true));
            }
        }
    }

    /// Reads on after a sequence number; tells whether anything was there.
    async fn read_tail(&self, caller: &Caller, verifier: &mut Verifier, after: &mut u64) -> Result<bool, Refusal> {
        let before = *after;
        loop {
            let page = self.world.ports.audit.page(caller.tenant(), *after, PAGE).await?;
            page.iter().for_each(|entry| verifier.take(entry));
            *after = page.last().map_or(*after, |last| last.sequence);
            if page.len() < PAGE as usize {
                return Ok(*after > before);
            }
        }
    }

    /// Those of the runs without outcome whose process lives.
    async fn running(&self, caller: &Caller, verifier: &Verifier) -> Result<BTreeSet<String>, Refusal> {
        let open = verifier.open_runs();
        if open.is_empty() {
            return Ok(BTreeSet::new());
        }
        let executions = &self.world.ports.executions;
        let orphans: BTreeSet<_> =
            executions.orphans().await?.into_iter().map(|record| record.execution_id.to_string()).collect();
        let mut running = BTreeSet::new();
        for execution in open.into_iter().filter(|execution| !orphans.contains(execution)) {
            let Ok(id) = ExecutionId::parse(&execution) else { continue };
            let record = executions.get(caller.tenant(), &id).await?;
            if record.is_some_and(|record| record.status == Status::Running) {
                running.insert(execution);
            }
        }
        Ok(running)
    }
}
