//! A copy of the chains' heads in a second file, so that a trail whose end was cut off shows.
//!
//! The copy never goes backwards: writers of several processes take turns on a lock and keep, for each
//! tenant, the larger sequence number. A copy that is behind is normal; it is written after the commit.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::time::Duration;

use belljar_core::audit::Head;
use belljar_core::ports::{StoreError, Stored};
use belljar_executor::TenantId;
use serde::{Deserialize, Serialize};

use crate::{folder::Folder, lock};

/// Heads by tenant.
pub(crate) type Heads = BTreeMap<TenantId, Head>;

/// The file that holds the copy.
#[derive(Clone, Debug)]
pub(crate) struct HeadsCopy {
    folder: PathBuf,
    file: PathBuf,
    patience: Duration,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    version: u32,
    heads: BTreeMap<TenantId, String>,
}

/// The version of the document.
const VERSION: u32 = 1;

impl HeadsCopy {
    /// The copy in this folder.
    pub(crate) fn new(folder: &Folder, patience: Duration) -> Self {
        Self { folder: folder.root().to_owned(), file: folder.heads(), patience }
    }

    /// What the copy holds; nothing when it was never written.
    pub(crate) fn read(&self) -> Stored<Heads> {
        let text = match fs::read(&self.file) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Heads::new()),
            Err(error) => return Err(self.damaged(&error)),
        };
        let document: Document = serde_json::from_slice(&text).map_err(|error| self.damaged(&error))?;
        if document.version != VERSION {
            return Err(self.damaged(&format!("version {} is not {VERSION}", document.version)));
        }
        let parse = |(tenant, head): (TenantId, String)| match head.parse() {
            Ok(head) => Ok((tenant, head)),
            Err(error) => Err(self.damaged(&format!("tenant {tenant}: {error}"))),
        };
        document.heads.into_iter().map(parse).collect()
    }

    /// Takes newer heads over, durably. Blocks. A copy that cannot be read is left as it is: it may be
    /// the one thing that shows what happened.
    pub(crate) fn merge(&self, newer: &Heads) -> Stored<()> {
        let _lock = lock::take(&self.file.with_extension("lock"), self.patience).map_err(StoreError::unavailable)?;
        let mut heads = self.read()?;
        for (tenant, head) in newer {
            let kept = heads.entry(tenant.clone()).or_insert(*head);
            if kept.sequence < head.sequence {
                *kept = *head;
            }
        }
        self.replace(&heads).map_err(StoreError::unavailable)
    }

    fn replace(&self, heads: &Heads) -> io::Result<()> {
        let heads = heads.iter().map(|(tenant, head)| (tenant.clone(), head.to_string())).collect();
        let text = serde_json::to_vec(&Document { version: VERSION, heads })?;
        let temporary = self.file.with_extension("new");
        let mut file = OpenOptions::new().create(true).write(true).truncate(true).mode(0o600).open(&temporary)?;
        file.write_all(&text)?;
        file.sync_all()?;
        fs::rename(&temporary, &self.file)?;
        File::open(&self.folder)?.sync_all()
    }

    fn damaged(&self, error: &dyn std::fmt::Display) -> StoreError {
        StoreError::Damaged(format!("the copy of the audit heads, {}: {error}", self.file.display()))
    }
}
