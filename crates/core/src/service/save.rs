//! Saving a skill from what a call brings: whole when it is new, in part when it is there.

use serde_json::json;

use super::{Belljar, RecalledSkill, SaveRequest, need};
use crate::caller::{Caller, Owner, Scope};
use crate::code::Code;
use crate::ids::RevisionId;
use crate::refusal::Refusal;
use crate::run::SkillSelector;
use crate::skill::{Base, Changes, Expectation, Note, Problem, RevisionChoice, Saved, Skill, SkillFolder, apply};

/// What is to be saved.
#[derive(Clone, Debug)]
pub struct ChangeRequest {
    /// What changes, or the new skill.
    pub changes: Changes,
    /// The team that owns the skill; without one it is the caller's own.
    pub team: Option<String>,
    /// The latest revision, as the caller knows it; without it the skill is new.
    pub expected: Option<RevisionId>,
    /// Whether the revision becomes the published one.
    pub publish: bool,
}

/// What saving came to.
#[derive(Clone, Debug)]
pub struct ChangedSkill {
    /// The skill and its revision.
    pub saved: Saved,
    /// The skill as it would be recalled at this revision.
    pub recalled: RecalledSkill,
    /// What the caller should know about it.
    pub notes: Vec<Note>,
}

impl Belljar {
    /// Makes a new skill, or changes one whose latest revision the caller names. Files that are left out stay.
    ///
    /// # Errors
    /// `ACCESS_DENIED`, also for a team that the caller is not in; `SKILL_NOT_FOUND`, `REVISION_NOT_FOUND`,
    /// `SKILL_ARCHIVED`; `CONFLICT` when the name is taken or another revision is the latest;
    /// `INVALID_ARGUMENT` with every problem of what would be saved; `STORE_UNAVAILABLE`.
    pub async fn change_skill(&self, caller: &Caller, request: ChangeRequest) -> Result<ChangedSkill, Refusal> {
        need(caller, Scope::MemoryWrite)?;
        let ChangeRequest { changes, team, expected, publish } = request;
        let owner = owner_of(caller, team.as_deref())?;
        let (folder, expectation) = match expected {
            None => (made(apply(None, changes))?, Expectation::NewSkill),
            Some(expected) => {
                let folder = self.changed(caller, &owner, changes, &expected).await?;
                (folder, Expectation::Latest(expected))
            }
        };
        let SkillFolder { manifest, files, notes, .. } = folder;
        let saved = self.save_skill(caller, SaveRequest { manifest, files, team, expectation, publish }).await?;
        let skill = SkillSelector::Id(saved.skill.id.clone());
        let recalled = self.recalled(caller, &skill, Some(&saved.revision.id)).await?;
        Ok(ChangedSkill { saved, recalled, notes })
    }

    async fn changed(
        &self,
        caller: &Caller,
        owner: &Owner,
        changes: Changes,
        expected: &RevisionId,
    ) -> Result<SkillFolder, Refusal> {
        let skills = &self.world.ports.skills;
        let found = skills.find_by_slug(caller.tenant(), std::slice::from_ref(owner), &changes.name).await?;
        let Some(Skill { tenant, id, archived, .. }) = found else {
            let message = format!("There is no skill named {} of this owner to change.", changes.name);
            return Err(Refusal::new(Code::SkillNotFound, message));
        };
        if archived {
            return Err(Refusal::new(Code::SkillArchived, "The skill is archived; unarchive it first."));
        }
        let choice = RevisionChoice::Exact(expected.clone());
        let revision = skills.revision(&tenant, &id, &choice).await?;
        let revision = revision.ok_or_else(|| {
            Refusal::new(Code::RevisionNotFound, "The skill has no such revision.")
                .with("argument", json!("expected_revision_id"))
        })?;
        let files = skills.files(&tenant, &revision.id).await?;
        made(apply(Some(Base { manifest: &revision.manifest, files: &files }), changes))
    }
}

/// The owner that a call names.
pub(super) fn owner_of(caller: &Caller, team: Option<&str>) -> Result<Owner, Refusal> {
    let owner = team.map_or_else(|| caller.personal(), |team| Owner::Team(team.to_owned()));
    if caller.sees(&owner) { Ok(owner) } else { Err(Refusal::new(Code::AccessDenied, "You are not in this team.")) }
}

fn made(folder: Result<SkillFolder, Vec<Problem>>) -> Result<SkillFolder, Refusal> {
    folder.map_err(|problems| {
        let told: Vec<_> = problems.iter().map(ToString::to_string).collect();
        let message = format!("The skill cannot be saved: {}.", told.join("; "));
        Refusal::new(Code::InvalidArgument, message).with("problems", json!(problems))
    })
}
