//! What was refused for want of a grant, and approving it.

use super::{Belljar, GrantRequest, need};
use crate::caller::{Caller, Scope};
use crate::code::Code;
use crate::grant::{Grant, PendingGrant};
use crate::ids::PendingId;
use crate::refusal::Refusal;
use crate::run::SkillSelector;
use crate::time::Timestamp;

impl Belljar {
    /// What was refused for want of a grant and still has none, latest first.
    ///
    /// # Errors
    /// `ACCESS_DENIED`, `STORE_UNAVAILABLE`.
    pub async fn pending_grants(&self, caller: &Caller) -> Result<Vec<PendingGrant>, Refusal> {
        need(caller, Scope::SkillsGrant)?;
        let ports = &self.world.ports;
        Ok(ports.grants.pending(caller.tenant(), ports.clock.now()).await?)
    }

    /// Grants exactly what was refused: that script at that pin.
    ///
    /// # Errors
    /// `NOT_FOUND` when nothing of this id waits; those of [`grant`](Self::grant), `CONFLICT` when what would run
    /// is no longer what was refused.
    pub async fn grant_pending(
        &self,
        caller: &Caller,
        id: &PendingId,
        expires_at: Option<Timestamp>,
        replace: bool,
    ) -> Result<Grant, Refusal> {
        let pending = self.pending_grants(caller).await?.into_iter().find(|pending| pending.id == *id);
        let none = || Refusal::new(Code::NotFound, "Nothing of this id waits for a grant.");
        let PendingGrant { skill_id, slug, script, pin, revision_id, .. } = pending.ok_or_else(none)?;
        let skill = match skill_id.unstored_slug() {
            Some(_) => SkillSelector::Slug(slug),
            None => SkillSelector::Id(skill_id),
        };
        let request = GrantRequest::new(skill, script.as_str(), pin);
        self.grant(caller, GrantRequest { revision: revision_id, expires_at, replace, ..request }).await
    }
}
