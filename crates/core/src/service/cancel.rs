//! Cancelling runs, whichever process runs them.

use std::time::Duration;

use belljar_executor::ExecutionId;
use serde_json::json;

use super::{Belljar, need};
use crate::audit::{Action, AuditDraft};
use crate::caller::{Caller, Scope};
use crate::code::Code;
use crate::execution::{ExecutionRecord, Status};
use crate::grant::Grant;
use crate::ids::AuditId;
use crate::refusal::Refusal;

/// How often the record is looked at while its ending is waited for.
const INTERVAL: Duration = Duration::from_millis(50);

/// How long an ending is waited for: the host itself waits five seconds for a cancelled run to confirm, and hears
/// of the request within a quarter of one.
const PATIENCE: Duration = Duration::from_secs(10);

impl Belljar {
    /// Cancels a run and waits for its ending. One that has ended already is answered as it ended.
    ///
    /// # Errors
    /// `ACCESS_DENIED`; `NOT_FOUND`, also for another's without `skills:grant`; `CONFLICT` when it did not end in
    /// time.
    pub async fn cancel(&self, caller: &Caller, id: &ExecutionId) -> Result<ExecutionRecord, Refusal> {
        need(caller, Scope::MemoryWrite)?;
        let record = self.execution(caller, id).await?;
        if record.status != Status::Running {
            return Ok(record);
        }
        self.ask(caller, &record).await?;
        self.ending(caller, id).await
    }

    /// Cancels the tenant's runs under these grants and waits for their endings.
    ///
    /// # Errors
    /// `ACCESS_DENIED`, `STORE_UNAVAILABLE`; `CONFLICT` when one did not end in time.
    pub async fn stop_runs_under(&self, caller: &Caller, grants: &[Grant]) -> Result<Vec<ExecutionRecord>, Refusal> {
        need(caller, Scope::SkillsGrant)?;
        let running = self.world.ports.executions.running(caller.tenant()).await?;
        let under: Vec<_> =
            running.into_iter().filter(|record| grants.iter().any(|grant| grant.id == record.grant_id)).collect();
        for record in &under {
            self.ask(caller, record).await?;
        }
        let mut ended = Vec::new();
        for record in under {
            ended.push(self.ending(caller, &record.execution_id).await?);
        }
        Ok(ended)
    }

    async fn ask(&self, caller: &Caller, record: &ExecutionRecord) -> Result<(), Refusal> {
        let ports = &self.world.ports;
        let (audit_id, now) = (AuditId::new(&ports.ids.new_id()), ports.clock.now());
        let entity = format!("{}/{}", record.slug, record.script_path);
        let tenant = caller.tenant();
        let draft = AuditDraft::new(audit_id, tenant.clone(), caller.subject(), Action::ExecutionCancel, entity, now);
        let draft = draft.with_after(&json!({ "execution_id": record.execution_id }));
        // Where somebody asked before, or the run has just ended, there is nothing to write.
        ports.executions.request_cancel(tenant, &record.execution_id, draft).await?;
        Ok(())
    }

    async fn ending(&self, caller: &Caller, id: &ExecutionId) -> Result<ExecutionRecord, Refusal> {
        let waiting = async {
            loop {
                let record = self.execution(caller, id).await?;
                if record.status != Status::Running {
                    return Ok(record);
                }
                tokio::time::sleep(INTERVAL).await;
            }
        };
        tokio::time::timeout(PATIENCE, waiting).await.unwrap_or_else(|_| {
            let message = "The run was asked to end and has not ended yet; its process may be busy or dead.";
            Err(Refusal::new(Code::Conflict, message).with("execution_id", json!(id)))
        })
    }
}
