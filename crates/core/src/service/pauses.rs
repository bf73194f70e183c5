//! Pausing and resuming script execution, seen by every process that shares the store.

use serde_json::json;

use super::{Belljar, need};
use crate::audit::Action;
use crate::caller::{Caller, Scope};
use crate::refusal::Refusal;

impl Belljar {
    /// Pauses, or resumes, the caller's tenant; `all` means every tenant. Runs that have started go on.
    /// Answers `false` when that was so already.
    ///
    /// # Errors
    /// `ACCESS_DENIED`, `STORE_UNAVAILABLE`.
    pub async fn set_paused(&self, caller: &Caller, all: bool, paused: bool) -> Result<bool, Refusal> {
        need(caller, Scope::PlatformAdmin)?;
        let action = if paused { Action::ExecutionPause } else { Action::ExecutionResume };
        let entity = if all { "*".to_owned() } else { caller.tenant().to_string() };
        let now = self.world.ports.clock.now();
        let draft = self.draft(caller, action, entity, now).with_after(&json!({ "all": all, "paused": paused }));
        let tenant = (!all).then(|| caller.tenant());
        Ok(self.world.ports.pauses.set_paused(tenant, paused, draft).await?)
    }
}
