//! The files of a revision, as an executor gets them.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::{Digest, FieldHasher, LogicalPath};

/// Every file the script can see, sorted by path, with the digest over all of them. Cheap to clone.
#[derive(Clone)]
pub struct FileTree {
    files: Arc<BTreeMap<LogicalPath, Arc<[u8]>>>,
    digest: Digest,
}

impl FileTree {
    /// A tree of these files; its digest covers the sorted paths and the SHA-256 of each content.
    #[must_use]
    pub fn new(files: BTreeMap<LogicalPath, Arc<[u8]>>) -> Self {
        let digest = files
            .iter()
            .fold(FieldHasher::new("belljar.files.v1"), |hasher, (path, bytes)| {
                hasher.field(path.as_str().as_bytes()).field(Digest::of(bytes).as_bytes())
            })
            .finish();
        Self { files: Arc::new(files), digest }
    }

    /// The digest over all paths and contents.
    #[must_use]
    pub const fn digest(&self) -> Digest {
        self.digest
    }

    /// One file's bytes.
    #[must_use]
    pub fn get(&self, path: &LogicalPath) -> Option<&Arc<[u8]>> {
        self.files.get(path)
    }

    /// All files, sorted by path.
    pub fn iter(&self) -> impl Iterator<Item = (&LogicalPath, &Arc<[u8]>)> {
        self.files.iter()
    }

    /// How many files.
    #[must_use]
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The size of all files together, bytes.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.files.values().map(|bytes| bytes.len() as u64).sum()
    }
}

impl fmt::Debug for FileTree {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("FileTree").field("files", &self.len()).field("digest", &self.digest).finish()
    }
}
