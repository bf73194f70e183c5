//! Saving and reading skills.

use belljar_executor::{FileTree, SkillName};
use serde::Serialize;
use serde_json::json;

use super::{Belljar, need};
use crate::audit::{Action, AuditDraft};
use crate::caller::{Caller, Scope};
use crate::ids::{AuditId, RevisionId, SkillId};
use crate::refusal::Refusal;
use crate::run::{SkillSelector, find_skill};
use crate::skill::{Manifest, Revision, RevisionDraft, Saved, Skill};

/// A skill with its revisions.
#[derive(Clone, Debug, Serialize)]
pub struct SkillDetails {
    /// The skill.
    pub skill: Skill,
    /// Its revisions, newest first.
    pub revisions: Vec<Revision>,
}

impl Belljar {
    /// Saves files with their manifest as a revision of the caller's own skill. An equal revision is used again.
    ///
    /// # Errors
    /// `ACCESS_DENIED`, `STORE_UNAVAILABLE`.
    pub async fn save_skill(&self, caller: &Caller, manifest: Manifest, files: FileTree) -> Result<Saved, Refusal> {
        need(caller, Scope::MemoryWrite)?;
        let ports = &self.world.ports;
        let now = ports.clock.now();
        let draft = RevisionDraft {
            new_skill_id: SkillId::new(&ports.ids.new_id()),
            new_revision_id: RevisionId::new(&ports.ids.new_id()),
            tenant: caller.tenant().clone(),
            owner: caller.personal(),
            slug: manifest.name.clone(),
            description: manifest.description.clone(),
            manifest,
            files,
            created_by: caller.subject().to_owned(),
            created_at: now,
        };
        let facts = json!({
            "revision_id": draft.new_revision_id,
            "owner": draft.owner,
            "files": draft.files.len(),
            "files_digest": draft.files.digest(),
        });
        let id = AuditId::new(&ports.ids.new_id());
        let entity = draft.slug.to_string();
        let audit = AuditDraft::new(id, draft.tenant.clone(), caller.subject(), Action::SkillSave, entity, now);
        Ok(ports.skills.save(draft, audit.with_after(&facts)).await?)
    }

    /// The skills that the caller sees.
    ///
    /// # Errors
    /// `ACCESS_DENIED`, `STORE_UNAVAILABLE`.
    pub async fn skills(&self, caller: &Caller) -> Result<Vec<Skill>, Refusal> {
        need(caller, Scope::MemoryRead)?;
        Ok(self.world.ports.skills.list(caller.tenant(), &caller.owners()).await?)
    }

    /// One skill with its revisions.
    ///
    /// # Errors
    /// `ACCESS_DENIED`, `SKILL_NOT_FOUND`, `STORE_UNAVAILABLE`.
    pub async fn skill(&self, caller: &Caller, slug: &SkillName) -> Result<SkillDetails, Refusal> {
        need(caller, Scope::MemoryRead)?;
        let skill = find_skill(&self.world, caller, &SkillSelector::Slug(slug.clone())).await?;
        let revisions = self.world.ports.skills.revisions(&skill.tenant, &skill.id).await?;
        Ok(SkillDetails { skill, revisions })
    }
}
