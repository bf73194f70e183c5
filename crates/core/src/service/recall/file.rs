//! One file of a skill.

use std::sync::Arc;

use belljar_executor::{LogicalPath, SkillName};

use crate::caller::{Caller, Scope};
use crate::code::Code;
use crate::ids::RevisionId;
use crate::refusal::Refusal;
use crate::run::{Located, SkillSelector, edition, find_component, find_skill};
use crate::service::{Belljar, need};
use crate::skill::FileEntry;

/// One file of a skill, at exactly one revision.
#[derive(Clone, Debug)]
pub struct RecalledFile {
    /// The skill's name.
    pub slug: SkillName,
    /// The revision; a registered or file skill has none.
    pub revision_id: Option<RevisionId>,
    /// Its path.
    pub path: LogicalPath,
    /// What it is for, its digest, size and media type.
    pub entry: FileEntry,
    /// Its bytes.
    pub bytes: Arc<[u8]>,
}

impl Belljar {
    /// One file of a skill, by path or component id. Of a stored skill its revision has to be named, so that what
    /// is read is what was looked at.
    ///
    /// # Errors
    /// `ACCESS_DENIED`, `SKILL_NOT_FOUND`, `REVISION_NOT_FOUND`, `SCRIPT_NOT_FOUND` when the revision has no such
    /// component, `INVALID_ARGUMENT` without a revision, `STORE_UNAVAILABLE`.
    pub async fn recall_file(
        &self,
        caller: &Caller,
        skill: &SkillSelector,
        revision: Option<&RevisionId>,
        path_or_id: &str,
    ) -> Result<RecalledFile, Refusal> {
        need(caller, Scope::MemoryRead)?;
        let located = find_skill(&self.world, caller, skill).await?;
        if revision.is_none() && matches!(located, Located::Stored(_)) {
            let message = "is needed to read a file: recall the skill without `resource` first, it names the revision";
            return Err(Refusal::invalid_argument("revision_id", message));
        }
        let edition = edition(&self.world, caller, located, revision).await?;
        let (path, entry) = find_component(edition.manifest(), path_or_id)?;
        let bytes = edition.files().get(path).cloned();
        let bytes =
            bytes.ok_or_else(|| Refusal::new(Code::Internal, "The store is damaged; its operator must look."))?;
        Ok(RecalledFile {
            slug: edition.slug().clone(),
            revision_id: edition.revision().map(|revision| revision.id.clone()),
            path: path.clone(),
            entry: entry.clone(),
            bytes,
        })
    }
}
