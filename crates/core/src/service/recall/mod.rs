//! Recalling skills: which there are, one with what it says and may run, one file of it.

mod file;
mod one;
mod search;

use belljar_executor::{Digest, LogicalPath, SkillName};
use serde::Serialize;
use serde_json::Value;

pub use self::file::RecalledFile;
use crate::caller::Owner;
use crate::ids::{RevisionId, SkillId};
use crate::skill::{ComponentId, Edition, FileEntry, FoundSkill, InputMode, Source, instructions};
use crate::time::Timestamp;

/// Where a skill is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SkillSource {
    /// In the store, in revisions.
    Stored,
    /// In the program that embeds the service.
    Registered,
    /// In a folder under a skill root.
    File,
}

/// A skill as a search shows it.
#[derive(Clone, Debug, Serialize)]
pub struct SkillSummary {
    /// Its name.
    pub slug: SkillName,
    /// What it does and when to use it.
    pub description: String,
    /// Where it is kept.
    pub source: SkillSource,
    /// Its id, of a stored one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skill_id: Option<SkillId>,
    /// Who owns it, of a stored one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<Owner>,
    /// The revision to pin: the published one, else the latest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision_id: Option<RevisionId>,
    /// Whether that revision is published.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published: Option<bool>,
    /// How many of its runs have ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<u64>,
    /// How many of them ended well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub succeeded: Option<u64>,
    /// When the latest of them began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_run_at: Option<Timestamp>,
}

impl From<FoundSkill> for SkillSummary {
    fn from(found: FoundSkill) -> Self {
        let FoundSkill { skill, revision, runs, succeeded, last_run_at } = found;
        Self {
            published: Some(skill.published.as_ref() == Some(&revision)),
            slug: skill.slug,
            description: skill.description,
            source: SkillSource::Stored,
            skill_id: Some(skill.id),
            owner: Some(skill.owner),
            revision_id: Some(revision),
            runs: Some(runs),
            succeeded: Some(succeeded),
            last_run_at,
        }
    }
}

/// What a search found.
#[derive(Clone, Debug, Serialize)]
pub struct FoundSkills {
    /// The best matches, best first.
    pub skills: Vec<SkillSummary>,
    /// Whether there are more.
    pub more: bool,
}

/// One file of a skill, as a recall lists it.
#[derive(Clone, Debug, Serialize)]
pub struct Component {
    /// Its id: the same in every revision that has a file at its path.
    pub component_id: ComponentId,
    /// Its path inside the skill.
    pub path: LogicalPath,
    /// What it is for, its digest, size and media type.
    #[serde(flatten)]
    pub entry: FileEntry,
}

/// One script, as a recall lists it.
#[derive(Clone, Debug, Serialize)]
pub struct RecalledScript {
    /// Its path inside the skill.
    pub path: LogicalPath,
    /// One sentence for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// How it takes its input.
    pub input: InputMode,
    /// JSON Schema of its input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Value>,
    /// JSON Schema of its output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    /// Its time-out, when a call names none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u32>,
    /// Whether this caller may run it now, whatever its arguments.
    pub runnable: bool,
    /// The code of why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
}

/// A skill with what it says and may run.
#[derive(Clone, Debug, Serialize)]
pub struct RecalledSkill {
    /// Its name.
    pub slug: SkillName,
    /// What it does and when to use it.
    pub description: String,
    /// Where it is kept.
    pub source: SkillSource,
    /// Its id, of a stored one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skill_id: Option<SkillId>,
    /// Who owns it, of a stored one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<Owner>,
    /// Whether it was archived.
    pub archived: bool,
    /// The revision that is shown: the one to pin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision_id: Option<RevisionId>,
    /// Its number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision_number: Option<u32>,
    /// The SHA-256 of its manifest's canonical JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manifest_digest: Option<Digest>,
    /// The published revision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published_revision_id: Option<RevisionId>,
    /// The latest revision: what a change has to name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latest_revision_id: Option<RevisionId>,
    /// What the index file says below its front matter.
    pub instructions: String,
    /// Every file.
    pub components: Vec<Component>,
    /// Every script.
    pub scripts: Vec<RecalledScript>,
}

fn source_of(edition: &Edition) -> SkillSource {
    match edition.source() {
        Source::Revision(_) => SkillSource::Stored,
        Source::Registered(_) => SkillSource::Registered,
        Source::Folder { .. } => SkillSource::File,
    }
}

/// What an edition's index file says below its front matter.
pub(in crate::service) fn instructions_of(edition: &Edition) -> &str {
    let index = edition.files().iter().find(|(path, _)| path.as_str() == "SKILL.md");
    index.map(|(_, bytes)| instructions(bytes)).unwrap_or_default()
}
