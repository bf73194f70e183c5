//! The second file: a copy of every tenant's head, so that a cut tail is found.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use belljar_core::audit::Head;
use belljar_core::ports::{StoreError, Stored};
use belljar_executor::TenantId;

use crate::error::damaged;
use crate::open::lock_file;

/// The copy of the heads, by tenant.
#[derive(Clone, Debug)]
pub(crate) struct Heads {
    folder: PathBuf,
}

impl Heads {
    pub(crate) fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    fn path(&self) -> PathBuf {
        self.folder.join("audit-heads")
    }

    /// Reads the copy; a file that is not there is an empty copy.
    pub(crate) fn read(&self) -> Stored<BTreeMap<TenantId, Head>> {
        let text = match fs::read_to_string(self.path()) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
            Err(error) => return Err(StoreError::unavailable(error)),
        };
        text.lines().map(parse_line).collect::<Option<_>>().ok_or_else(|| damaged("audit-heads cannot be read"))
    }

    /// Moves the copy forward, never backwards, and makes it durable.
    pub(crate) fn advance(&self, heads: &BTreeMap<TenantId, Head>) -> io::Result<()> {
        let lock = lock_file(&self.folder.join("audit-heads.lock")).map_err(io::Error::other)?;
        lock.lock()?;
        let mut merged = self.read().map_err(io::Error::other)?;
        for (tenant, head) in heads {
            let known = merged.entry(tenant.clone()).or_insert(*head);
            if known.sequence < head.sequence {
                *known = *head;
            }
        }
        let text: String = merged.iter().map(|(tenant, head)| format!("{tenant} {head}\n")).collect();
        let next = self.folder.join("audit-heads.next");
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&next)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&next, self.path())?;
        File::open(&self.folder)?.sync_all()
    }
}

fn parse_line(line: &str) -> Option<(TenantId, Head)> {
    let (tenant, head) = line.split_once(' ')?;
    Some((TenantId::parse(tenant).ok()?, head.parse().ok()?))
}
