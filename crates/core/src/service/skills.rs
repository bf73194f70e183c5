//! Saving and reading skills.

use belljar_executor::{FileTree, SkillName};
use serde::Serialize;
use serde_json::json;

use super::save::owner_of;
use super::{Belljar, need};
use crate::audit::{Action, AuditDraft};
use crate::caller::{Caller, Scope};
use crate::code::Code;
use crate::ids::{AuditId, RevisionId, SkillId};
use crate::refusal::Refusal;
use crate::run::{Located, SkillSelector, edition, find_skill, reading};
use crate::skill::{
    Edition, Expectation, FileSkill, Manifest, Revision, RevisionDraft, RootProblem, SaveAnswer, Saved, Skill, roots,
};

/// What is to be saved.
#[derive(Clone, Debug)]
pub struct SaveRequest {
    /// Every file and every script's declarations.
    pub manifest: Manifest,
    /// The files; exactly those of the manifest.
    pub files: FileTree,
    /// The team that owns the skill; without one it is the caller's own.
    pub team: Option<String>,
    /// What has to be so.
    pub expectation: Expectation,
    /// Whether the revision becomes the published one.
    pub publish: bool,
}

impl SaveRequest {
    /// A further revision of the caller's own skill, or a new skill; not published.
    #[must_use]
    pub const fn new(manifest: Manifest, files: FileTree) -> Self {
        Self { manifest, files, team: None, expectation: Expectation::Anything, publish: false }
    }
}

/// A skill as a listing shows it.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "source", rename_all = "lowercase")]
pub enum ListedSkill {
    /// In the store.
    Stored(Skill),
    /// Registered by the program that embeds the service.
    Registered {
        /// Its name.
        slug: SkillName,
        /// What it does and when to use it.
        description: String,
    },
    /// In a folder under a skill root.
    File(FileSkill),
}

impl ListedSkill {
    /// Its name.
    #[must_use]
    pub const fn slug(&self) -> &SkillName {
        match self {
            Self::Stored(skill) => &skill.slug,
            Self::Registered { slug, .. } => slug,
            Self::File(skill) => &skill.slug,
        }
    }

    /// What it does and when to use it.
    #[must_use]
    pub fn description(&self) -> &str {
        match self {
            Self::Stored(skill) => &skill.description,
            Self::Registered { description, .. } => description,
            Self::File(skill) => &skill.description,
        }
    }
}

/// A stored skill with its revisions.
#[derive(Clone, Debug, Serialize)]
pub struct SkillDetails {
    /// The skill.
    pub skill: Skill,
    /// Its revisions, newest first.
    pub revisions: Vec<Revision>,
}

impl Belljar {
    /// Saves files with their manifest as a revision. An equal revision is used again.
    ///
    /// # Errors
    /// `ACCESS_DENIED`, also for a team that the caller is not in; `CONFLICT` when what is expected is not so;
    /// `SKILL_ARCHIVED`; `STORE_UNAVAILABLE`.
    pub async fn save_skill(&self, caller: &Caller, request: SaveRequest) -> Result<Saved, Refusal> {
        need(caller, Scope::MemoryWrite)?;
        let SaveRequest { manifest, files, team, expectation, publish } = request;
        let owner = owner_of(caller, team.as_deref())?;
        let ports = &self.world.ports;
        let now = ports.clock.now();
        let draft = RevisionDraft {
            new_skill_id: SkillId::new(&ports.ids.new_id()),
            new_revision_id: RevisionId::new(&ports.ids.new_id()),
            tenant: caller.tenant().clone(),
            owner,
            slug: manifest.name.clone(),
            description: manifest.description.clone(),
            manifest,
            files,
            expectation,
            publish,
            created_by: caller.subject().to_owned(),
            created_at: now,
        };
        let facts = json!({
            "owner": draft.owner,
            "files": draft.files.len(),
            "files_digest": draft.files.digest(),
        });
        let id = AuditId::new(&ports.ids.new_id());
        let entity = draft.slug.to_string();
        let audit = AuditDraft::new(id, draft.tenant.clone(), caller.subject(), Action::SkillSave, entity, now);
        match ports.skills.save(draft, audit.with_after(&facts)).await? {
            SaveAnswer::Saved(saved) => Ok(*saved),
            SaveAnswer::Archived => {
                Err(Refusal::new(Code::SkillArchived, "The skill is archived; unarchive it first."))
            }
            SaveAnswer::Conflict => Err(Refusal::new(
                Code::Conflict,
                "The skill is there already, or its latest revision is another one than was expected; look at it again.",
            )),
        }
    }

    /// The skills that the caller can run, by name: of one name only the one that runs.
    ///
    /// # Errors
    /// `ACCESS_DENIED`, `STORE_UNAVAILABLE`.
    pub async fn skills(&self, caller: &Caller) -> Result<Vec<ListedSkill>, Refusal> {
        need(caller, Scope::MemoryRead)?;
        let registered = self.world.registered.values().map(|read| {
            let Manifest { name, description, .. } = read.manifest.clone();
            ListedSkill::Registered { slug: name, description }
        });
        let stored = self.world.ports.skills.list(caller.tenant(), &caller.owners()).await?;
        let (in_folders, problems) = self.in_roots().await?;
        for RootProblem { folder, message } in problems {
            tracing::warn!(folder = %folder.display(), message, "a folder under a skill root is not used");
        }
        let stored = stored.into_iter().map(ListedSkill::Stored);
        let in_folders = in_folders.into_iter().map(ListedSkill::File);
        let mut listed: Vec<_> = registered.chain(stored).chain(in_folders).collect();
        // Stable: of one name the one that runs stays first.
        listed.sort_by(|left, right| left.slug().cmp(right.slug()));
        listed.dedup_by(|later, first| later.slug() == first.slug());
        Ok(listed)
    }

    /// Every usable skill under the skill roots, and every folder that is none though it looks like one.
    ///
    /// # Errors
    /// `ACCESS_DENIED`; `INTERNAL` when the reading itself fails.
    pub async fn file_skills(&self, caller: &Caller) -> Result<(Vec<FileSkill>, Vec<RootProblem>), Refusal> {
        need(caller, Scope::SkillsGrant)?;
        self.in_roots().await
    }

    pub(super) async fn in_roots(&self) -> Result<(Vec<FileSkill>, Vec<RootProblem>), Refusal> {
        let roots = self.world.options.skill_roots().to_vec();
        reading(move || roots::list(&roots)).await
    }

    /// A skill at the files that would run, or at those of a revision.
    ///
    /// # Errors
    /// `ACCESS_DENIED`, `SKILL_NOT_FOUND`, `REVISION_NOT_FOUND`, `STORE_UNAVAILABLE`.
    pub async fn edition(
        &self,
        caller: &Caller,
        skill: &SkillSelector,
        revision: Option<&RevisionId>,
    ) -> Result<Edition, Refusal> {
        need(caller, Scope::MemoryRead)?;
        let located = find_skill(&self.world, caller, skill).await?;
        edition(&self.world, caller, located, revision).await
    }

    /// A stored skill with its revisions; none for one that is not in the store.
    ///
    /// # Errors
    /// `ACCESS_DENIED`, `SKILL_NOT_FOUND`, `STORE_UNAVAILABLE`.
    pub async fn skill(&self, caller: &Caller, slug: &SkillName) -> Result<Option<SkillDetails>, Refusal> {
        need(caller, Scope::MemoryRead)?;
        let located = find_skill(&self.world, caller, &SkillSelector::Slug(slug.clone())).await?;
        let Located::Stored(skill) = located else { return Ok(None) };
        let revisions = self.world.ports.skills.revisions(&skill.tenant, &skill.id).await?;
        Ok(Some(SkillDetails { skill, revisions }))
    }
}
