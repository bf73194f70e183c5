//! What happens to a stored skill after it was saved: published, archived, purged.

use serde_json::{Value, json};

use super::{Belljar, need};
use crate::audit::{Action, AuditDraft};
use crate::caller::{Caller, Scope};
use crate::code::Code;
use crate::ids::{AuditId, RevisionId};
use crate::refusal::Refusal;
use crate::run::{Located, SkillSelector, find_skill};
use crate::skill::Skill;

impl Belljar {
    /// Makes a revision the one that runs when none is named; `false` when it is so already.
    ///
    /// # Errors
    /// `ACCESS_DENIED`, `SKILL_NOT_FOUND`, `SKILL_ARCHIVED`, `REVISION_NOT_FOUND`, `STORE_UNAVAILABLE`.
    pub async fn publish(
        &self,
        caller: &Caller,
        selector: &SkillSelector,
        revision: &RevisionId,
    ) -> Result<bool, Refusal> {
        let skill = self.stored(caller, selector).await?;
        if skill.archived {
            return Err(Refusal::new(Code::SkillArchived, "The skill is archived; unarchive it first."));
        }
        let draft = self.about(caller, Action::SkillPublish, &skill, &json!({ "published": revision }));
        let published = self.world.ports.skills.publish(&skill.tenant, &skill.id, revision, draft).await?;
        published.ok_or_else(|| Refusal::new(Code::RevisionNotFound, "The skill has no such revision."))
    }

    /// Archives a skill, so that nothing of it runs, or takes it back; `false` when it is so already.
    ///
    /// # Errors
    /// `ACCESS_DENIED`, `SKILL_NOT_FOUND`, `STORE_UNAVAILABLE`.
    pub async fn set_archived(
        &self,
        caller: &Caller,
        selector: &SkillSelector,
        archived: bool,
    ) -> Result<bool, Refusal> {
        let skill = self.stored(caller, selector).await?;
        let action = if archived { Action::SkillArchive } else { Action::SkillUnarchive };
        let draft = self.about(caller, action, &skill, &json!({ "archived": archived }));
        Ok(self.world.ports.skills.set_archived(&skill.tenant, &skill.id, archived, draft).await?)
    }

    /// Deletes a skill with all its revisions. What was recorded of its runs stays.
    ///
    /// # Errors
    /// `ACCESS_DENIED`, `SKILL_NOT_FOUND`, `STORE_UNAVAILABLE`.
    pub async fn purge(&self, caller: &Caller, selector: &SkillSelector) -> Result<Skill, Refusal> {
        let skill = self.stored(caller, selector).await?;
        let revisions = self.world.ports.skills.revisions(&skill.tenant, &skill.id).await?;
        let digests: Vec<_> = revisions.iter().map(|revision| json!([revision.id, revision.manifest_digest])).collect();
        let draft = self.about(caller, Action::SkillPurge, &skill, &Value::Null);
        let draft = draft.with_before(&json!({ "owner": skill.owner, "revisions": digests }));
        if self.world.ports.skills.purge(&skill.tenant, &skill.id, draft).await? {
            Ok(skill)
        } else {
            Err(Refusal::new(Code::SkillNotFound, "The skill is gone already."))
        }
    }

    /// A skill of the store, for a caller that may change it.
    async fn stored(&self, caller: &Caller, selector: &SkillSelector) -> Result<Skill, Refusal> {
        need(caller, Scope::MemoryWrite)?;
        match find_skill(&self.world, caller, selector).await? {
            Located::Stored(skill) => Ok(skill),
            Located::Registered(_) | Located::Folder(..) => {
                Err(Refusal::invalid_argument("skill", "is not in the store: only a saved skill can be changed here"))
            }
        }
    }

    fn about(&self, caller: &Caller, action: Action, skill: &Skill, facts: &Value) -> AuditDraft {
        let ports = &self.world.ports;
        let (id, now) = (AuditId::new(&ports.ids.new_id()), ports.clock.now());
        let draft = AuditDraft::new(id, skill.tenant.clone(), caller.subject(), action, skill.slug.to_string(), now);
        let mut after = json!({ "skill_id": skill.id });
        if let (Some(after), Some(facts)) = (after.as_object_mut(), facts.as_object()) {
            after.extend(facts.clone());
        }
        draft.with_after(&after)
    }
}
