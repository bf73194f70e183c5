//! A skill at exactly the files that would run, wherever it comes from.

use std::path::PathBuf;
use std::sync::Arc;

use belljar_executor::{Digest, FileTree, LogicalPath, Origin, SkillName, TenantId};

use super::{Manifest, Revision, SkillFolder};
use crate::ids::SkillId;

/// Where an edition comes from.
#[derive(Clone, Debug)]
pub enum Source {
    /// A revision of the store.
    Revision(Box<Revision>),
    /// Registered by the program that embeds the service.
    Registered(Arc<SkillFolder>),
    /// A folder under a skill root, read once.
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What was read.
        read: Box<SkillFolder>,
    },
}

/// A skill at exactly the files that would run.
#[derive(Clone, Debug)]
pub struct Edition {
    pub(crate) tenant: TenantId,
    pub(crate) grant_key: SkillId,
    pub(crate) slug: SkillName,
    pub(crate) files: FileTree,
    pub(crate) source: Source,
}

impl Edition {
    /// The skill's name.
    #[must_use]
    pub const fn slug(&self) -> &SkillName {
        &self.slug
    }

    /// Where it comes from.
    #[must_use]
    pub const fn source(&self) -> &Source {
        &self.source
    }

    /// The origin of its scripts: a file skill's are `File`, all others `Stored`.
    #[must_use]
    pub const fn origin(&self) -> Origin {
        match self.source {
            Source::Revision(_) | Source::Registered(_) => Origin::Stored,
            Source::Folder { .. } => Origin::File,
        }
    }

    /// Its revision; a registered or file skill has none.
    #[must_use]
    pub fn revision(&self) -> Option<&Revision> {
        match &self.source {
            Source::Revision(revision) => Some(revision),
            Source::Registered(_) | Source::Folder { .. } => None,
        }
    }

    /// Every file and every script's declarations.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        match &self.source {
            Source::Revision(revision) => &revision.manifest,
            Source::Registered(read) => &read.manifest,
            Source::Folder { read, .. } => &read.manifest,
        }
    }

    /// The files, byte for byte.
    #[must_use]
    pub const fn files(&self) -> &FileTree {
        &self.files
    }

    /// The SHA-256 of the manifest's canonical JSON.
    pub(crate) fn manifest_digest(&self) -> Option<Digest> {
        match self.revision() {
            Some(revision) => Some(revision.manifest_digest),
            None => self.manifest().canonical_json().ok().map(|json| Digest::of(json.as_bytes())),
        }
    }

    /// Where a file of it lies on the host, for a file skill.
    pub(crate) fn source_path(&self, path: &LogicalPath) -> Option<PathBuf> {
        match &self.source {
            Source::Folder { folder, .. } => Some(folder.join(path.as_str())),
            Source::Revision(_) | Source::Registered(_) => None,
        }
    }
}
