//! Skills, their immutable revisions and what a revision holds.

mod archive;
mod assemble;
mod changes;
mod component;
mod declarations;
mod edition;
mod file_names;
mod folder;
mod frontmatter;
mod host_folder;
mod language;
mod manifest;
mod media_type;
mod problem;
pub(crate) mod roots;
mod save_limits;
mod schema;
mod search;

pub use archive::{read_archive, write_archive};
pub use assemble::{SkillFolder, assemble, assemble_within, from_files};
pub use changes::{Base, Changes, ComponentChange, apply};
pub use component::{ComponentId, ComponentType};
pub use edition::{Edition, Source};
pub use folder::{read_folder, read_folder_within};
pub(crate) use frontmatter::front_matter_lines;
pub use frontmatter::{FrontMatter, Strictness, front_matter, instructions};
pub use language::language_of;
pub use manifest::{FileEntry, InputMode, LimitsDeclaration, Manifest, ScriptDeclaration};
pub use problem::{Note, NoteKind, Problem};
pub use roots::{FileSkill, RootProblem};
pub use save_limits::SaveLimits;
pub(crate) use schema::satisfies;
pub use search::{FoundSkill, SearchQuery};

use belljar_executor::{Digest, FileTree, SkillName, TenantId};
use serde::Serialize;

use crate::caller::Owner;
use crate::ids::{RevisionId, SkillId};
use crate::time::Timestamp;

/// A skill: a stable id and a slug, owned by a person or a team.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Skill {
    /// Its id.
    pub id: SkillId,
    /// The tenant.
    pub tenant: TenantId,
    /// Who owns it.
    pub owner: Owner,
    /// Its name in the Agent Skills format.
    pub slug: SkillName,
    /// What it does and when to use it, from the latest revision.
    pub description: String,
    /// Whether it was archived.
    pub archived: bool,
    /// The published revision.
    pub published: Option<RevisionId>,
    /// When it was saved first.
    pub created_at: Timestamp,
}

/// An immutable numbered snapshot of a skill's files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Revision {
    /// Its id.
    pub id: RevisionId,
    /// The skill.
    pub skill_id: SkillId,
    /// 1 for the first, without gaps.
    pub number: u32,
    /// What it holds.
    pub manifest: Manifest,
    /// The SHA-256 of the manifest's canonical JSON.
    pub manifest_digest: Digest,
    /// Who saved it.
    pub created_by: String,
    /// When.
    pub created_at: Timestamp,
}

/// Which revision of a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RevisionChoice {
    /// Exactly this one, which must belong to the skill.
    Exact(RevisionId),
    /// The published one, else the latest.
    Current,
    /// The latest.
    Latest,
}

/// What has to be so for a revision to be saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expectation {
    /// Nothing: a new skill or a further revision.
    Anything,
    /// The owner has no skill of this name.
    NewSkill,
    /// The skill is there, and its latest revision is this one.
    Latest(RevisionId),
}

/// A revision to be saved. An equal manifest digest, in any revision of the skill, makes no new one.
#[derive(Clone, Debug)]
pub struct RevisionDraft {
    /// The skill's id when the slug is new to this owner.
    pub new_skill_id: SkillId,
    /// The revision's id when it is new.
    pub new_revision_id: RevisionId,
    /// The tenant.
    pub tenant: TenantId,
    /// The owner.
    pub owner: Owner,
    /// The slug.
    pub slug: SkillName,
    /// The index entry's description.
    pub description: String,
    /// What it holds.
    pub manifest: Manifest,
    /// Its files; exactly those of the manifest.
    pub files: FileTree,
    /// What has to be so.
    pub expectation: Expectation,
    /// Whether it becomes the published one.
    pub publish: bool,
    /// Who saves.
    pub created_by: String,
    /// When.
    pub created_at: Timestamp,
}

/// What a save was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SaveAnswer {
    /// It is there.
    Saved(Box<Saved>),
    /// The expectation does not hold; nothing was written.
    Conflict,
    /// The skill is archived; nothing was written.
    Archived,
}

/// What saving came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saved {
    /// The skill.
    pub skill: Skill,
    /// The revision with exactly these files and declarations.
    pub revision: Revision,
    /// Whether it is new; an equal one is used again.
    pub is_new: bool,
}
