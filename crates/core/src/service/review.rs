//! What changed between a pin that somebody reviewed once and what would be granted now.

use belljar_executor::Digest;

use super::grants::target_of;
use super::{Belljar, need};
use crate::audit::Action;
use crate::caller::{Caller, Scope};
use crate::code::Code;
use crate::grant::{Grant, GrantTarget};
use crate::ids::RevisionId;
use crate::pin::Pinner;
use crate::refusal::Refusal;
use crate::run::{Located, SkillSelector, edition, find_skill};
use crate::skill::{Edition, Revision, RevisionChoice, Skill};

/// How many entries of the trail are read at once.
const PAGE: u32 = 1000;

/// What is to be reviewed.
#[derive(Clone, Debug)]
pub struct ReviewRequest {
    /// The skill.
    pub skill: SkillSelector,
    /// The revision to be granted; without one the published, else the latest.
    pub revision: Option<RevisionId>,
    /// A script by path or component id, or `*`.
    pub target: String,
    /// The pin that was reviewed before.
    pub from: Digest,
}

/// What was reviewed before, and what would be granted now.
#[derive(Clone, Debug)]
pub struct Review {
    /// The skill as it was at the pin that was reviewed.
    pub before: Edition,
    /// The skill as it would be granted.
    pub after: Edition,
    /// The script, or all of them.
    pub target: GrantTarget,
    /// Its pin now.
    pub pin: Digest,
    /// The grant at the pin that was reviewed, if there was one; it may be revoked or expired.
    pub granted: Option<Grant>,
}

impl Belljar {
    /// What changed since a pin: the revision that had it, and the one that would be granted.
    ///
    /// # Errors
    /// `ACCESS_DENIED`, `SKILL_NOT_FOUND`, `REVISION_NOT_FOUND`, `SCRIPT_NOT_FOUND`; `INVALID_ARGUMENT` for a skill that is
    /// not in the store, whose earlier files nobody kept; `NOT_FOUND` when no revision is known to have had the pin;
    /// `SCRIPT_DENIED` while the script's language is not allowed; `STORE_UNAVAILABLE`.
    pub async fn review(&self, caller: &Caller, request: &ReviewRequest) -> Result<Review, Refusal> {
        need(caller, Scope::SkillsGrant)?;
        let located = find_skill(&self.world, caller, &request.skill).await?;
        let Located::Stored(skill) = located else {
            let message = "compares revisions, and this skill is not in the store: its earlier files were not kept";
            return Err(Refusal::invalid_argument("from", message));
        };
        let selector = SkillSelector::Id(skill.id.clone());
        let pins = self.pins(caller, &selector, request.revision.as_ref()).await?;
        let (target, pin) = target_of(&pins, &request.target)?;
        let had = match self.revision_at(&skill, &target, request.from).await? {
            Some(revision) => Some(revision),
            // Its pin may have been another one under another configuration; the trail tells what was granted.
            None => self.revision_granted_at(&skill, &target, request.from).await?,
        };
        let had = had.ok_or_else(|| {
            let message = "No revision of this skill is known to have had this pin.";
            Refusal::new(Code::NotFound, message).with("argument", "from".into())
        })?;
        let grants = self.world.ports.grants.list(&skill.tenant).await?;
        let is_it =
            |grant: &Grant| grant.skill_id == skill.id && grant.target == target && grant.pin == Some(request.from);
        let granted = grants.into_iter().find(is_it);
        let before = edition(&self.world, caller, Located::Stored(skill), Some(&had)).await?;
        Ok(Review { before, after: pins.edition, target, pin, granted })
    }

    /// The latest revision that has this pin under this configuration.
    async fn revision_at(
        &self,
        skill: &Skill,
        target: &GrantTarget,
        pin: Digest,
    ) -> Result<Option<RevisionId>, Refusal> {
        let skills = &self.world.ports.skills;
        for Revision { id, manifest, .. } in skills.revisions(&skill.tenant, &skill.id).await? {
            let files = skills.files(&skill.tenant, &id).await?;
            let pinner = Pinner { options: &self.world.options, manifest: &manifest, files: &files };
            let current = match target {
                GrantTarget::AllScripts => Some(pinner.all()),
                GrantTarget::Script(_) => {
                    let mut paths = manifest.scripts.keys();
                    paths.find(|path| path.as_str() == target.as_str()).and_then(|path| pinner.script(path))
                }
            };
            if current == Some(pin) {
                return Ok(Some(id));
            }
        }
        Ok(None)
    }

    /// The revision that was there when this pin was granted, as the trail tells.
    async fn revision_granted_at(
        &self,
        skill: &Skill,
        target: &GrantTarget,
        pin: Digest,
    ) -> Result<Option<RevisionId>, Refusal> {
        let (ports, wanted) = (&self.world.ports, pin.to_string());
        let (mut after, mut found) = (0, None);
        loop {
            let page = ports.audit.page(&skill.tenant, after, PAGE).await?;
            let Some(last) = page.last() else { break };
            after = last.sequence;
            for entry in page.iter().filter(|entry| entry.action == Action::ScriptGrant) {
                let facts = entry.facts();
                let granted = &facts["grant"];
                let is_it = granted["pin"] == wanted.as_str()
                    && granted["skill_id"] == skill.id.as_str()
                    && granted["target"] == target.as_str();
                found = facts["revision_id"].as_str().filter(|_| is_it).map(RevisionId::new).or(found);
            }
        }
        let Some(id) = found else { return Ok(None) };
        // A trail outlives what it tells of.
        let kept = ports.skills.revision(&skill.tenant, &skill.id, &RevisionChoice::Exact(id)).await?;
        Ok(kept.map(|revision| revision.id))
    }
}
