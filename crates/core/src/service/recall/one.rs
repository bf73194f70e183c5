//! One skill: what it says, what it holds and what of it may run.

use super::{Component, RecalledScript, RecalledSkill, instructions_of, source_of};
use crate::caller::{Caller, Scope};
use crate::code::Code;
use crate::ids::RevisionId;
use crate::refusal::Refusal;
use crate::run::{Located, SkillSelector, closed_gate, edition, find_skill};
use crate::service::{Belljar, need};
use crate::skill::{ComponentId, Edition, RevisionChoice, Skill};

impl Belljar {
    /// One skill: what it says, what it holds, and which of its scripts this caller may run now.
    ///
    /// # Errors
    /// `ACCESS_DENIED`, `SKILL_NOT_FOUND`, `REVISION_NOT_FOUND`, `STORE_UNAVAILABLE`.
    pub async fn recall_skill(
        &self,
        caller: &Caller,
        skill: &SkillSelector,
        revision: Option<&RevisionId>,
    ) -> Result<RecalledSkill, Refusal> {
        need(caller, Scope::MemoryRead)?;
        self.recalled(caller, skill, revision).await
    }

    /// The same, for a caller that was let in.
    pub(in crate::service) async fn recalled(
        &self,
        caller: &Caller,
        skill: &SkillSelector,
        revision: Option<&RevisionId>,
    ) -> Result<RecalledSkill, Refusal> {
        let located = find_skill(&self.world, caller, skill).await?;
        let stored = match &located {
            Located::Stored(skill) => Some(skill.clone()),
            Located::Registered(_) | Located::Folder(..) => None,
        };
        let latest = match &stored {
            Some(skill) => self.latest(skill).await?,
            None => None,
        };
        let edition = edition(&self.world, caller, located, revision).await?;
        let archived = stored.as_ref().is_some_and(|skill| skill.archived);
        let scripts = self.scripts(caller, &edition, archived).await?;
        Ok(recalled(&edition, stored, latest, scripts))
    }

    async fn latest(&self, skill: &Skill) -> Result<Option<RevisionId>, Refusal> {
        let latest = self.world.ports.skills.revision(&skill.tenant, &skill.id, &RevisionChoice::Latest).await?;
        Ok(latest.map(|revision| revision.id))
    }

    pub(in crate::service) async fn scripts(
        &self,
        caller: &Caller,
        edition: &Edition,
        archived: bool,
    ) -> Result<Vec<RecalledScript>, Refusal> {
        let mut scripts = Vec::new();
        for (path, declared) in &edition.manifest().scripts {
            let reason = if !caller.may(Scope::MemoryWrite) {
                Some(Code::AccessDenied.as_str())
            } else if archived {
                Some(Code::SkillArchived.as_str())
            } else {
                closed_gate(&self.world, caller, edition, path).await?.map(crate::code::Reason::as_str)
            };
            scripts.push(RecalledScript {
                path: path.clone(),
                description: declared.description.clone(),
                input: declared.input,
                parameters: declared.parameters.clone(),
                output: declared.output.clone(),
                timeout_seconds: declared.timeout_seconds,
                runnable: reason.is_none(),
                reason,
            });
        }
        Ok(scripts)
    }
}

fn recalled(
    edition: &Edition,
    stored: Option<Skill>,
    latest: Option<RevisionId>,
    scripts: Vec<RecalledScript>,
) -> RecalledSkill {
    let (manifest, revision) = (edition.manifest(), edition.revision());
    let components = manifest.files.iter().map(|(path, entry)| Component {
        component_id: ComponentId::of(path),
        path: path.clone(),
        entry: entry.clone(),
    });
    RecalledSkill {
        slug: edition.slug().clone(),
        description: manifest.description.clone(),
        source: source_of(edition),
        archived: stored.as_ref().is_some_and(|skill| skill.archived),
        published_revision_id: stored.as_ref().and_then(|skill| skill.published.clone()),
        owner: stored.as_ref().map(|skill| skill.owner.clone()),
        skill_id: stored.map(|skill| skill.id),
        revision_id: revision.map(|revision| revision.id.clone()),
        revision_number: revision.map(|revision| revision.number),
        manifest_digest: revision.map(|revision| revision.manifest_digest),
        latest_revision_id: latest,
        instructions: instructions_of(edition).to_owned(),
        components: components.collect(),
        scripts,
    }
}
