//! Reading execution records.

use belljar_executor::ExecutionId;

use super::{Belljar, need};
use crate::caller::{Caller, Scope};
use crate::code::Code;
use crate::execution::ExecutionRecord;
use crate::refusal::Refusal;

impl Belljar {
    /// The tenant's executions, newest first; without `skills:grant` only the caller's own.
    ///
    /// # Errors
    /// `ACCESS_DENIED`, `STORE_UNAVAILABLE`.
    pub async fn executions(&self, caller: &Caller, limit: u32) -> Result<Vec<ExecutionRecord>, Refusal> {
        need(caller, Scope::MemoryRead)?;
        let records = self.world.ports.executions.list(caller.tenant(), limit).await?;
        Ok(records.into_iter().filter(|record| may_read(caller, record)).collect())
    }

    /// One execution.
    ///
    /// # Errors
    /// `NOT_FOUND`, also for another's.
    pub async fn execution(&self, caller: &Caller, id: &ExecutionId) -> Result<ExecutionRecord, Refusal> {
        need(caller, Scope::MemoryRead)?;
        let found = self.world.ports.executions.get(caller.tenant(), id).await?;
        found
            .filter(|record| may_read(caller, record))
            .ok_or_else(|| Refusal::new(Code::NotFound, "No execution has this id."))
    }
}

fn may_read(caller: &Caller, record: &ExecutionRecord) -> bool {
    record.caller == caller.subject() || caller.may(Scope::SkillsGrant)
}
