//! Users for runs. Started as root, every concurrent run gets an unprivileged uid of its own.
//!
//! The range 1,879,048,192 (0x7000_0000) to 1,879,052,287 is fixed and documented: far above accounts,
//! below the range that systemd hands out, and without an entry anywhere. A lease is a lock on a file, so
//! several services on one machine never share a uid, and a lock dies with its process.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

const FIRST: u32 = 0x7000_0000;
const COUNT: u32 = 4096;

/// Where the lock files are.
pub(crate) const DEFAULT_FOLDER: &str = "/run/belljar";

/// Hands out users.
#[derive(Debug)]
pub(crate) enum Users {
    /// The service is an ordinary user, and so is every run.
    Own,
    /// The service is root: a leased uid for each run.
    Leased { folder: PathBuf, next: AtomicU32 },
}

/// The user of one run; it is free again when this is dropped.
#[derive(Debug)]
pub(crate) struct Lease {
    uid: u32,
    _lock: File,
}

impl Lease {
    /// The uid, and the gid of the same number.
    pub(crate) const fn uid(&self) -> u32 {
        self.uid
    }
}

impl Users {
    /// Finds out who the service is, and makes the folder of the locks if it is root.
    pub(crate) fn open(runtime_folder: &Path) -> io::Result<Self> {
        if !rustix::process::geteuid().is_root() {
            return Ok(Self::Own);
        }
        let folder = runtime_folder.join("uids");
        for path in [runtime_folder, &folder] {
            match DirBuilder::new().mode(0o700).create(path) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                _ => {}
            }
            let found = fs::symlink_metadata(path)?;
            // Whoever could replace a lock file could give two runs the same uid.
            if !found.is_dir() || found.uid() != 0 || found.mode() & 0o022 != 0 {
                return Err(io::Error::other(format!("{} is not a folder of root alone", path.display())));
            }
        }
        Ok(Self::Leased { folder, next: AtomicU32::new(std::process::id()) })
    }

    /// A user for a run: `None` for the service's own.
    pub(crate) fn lease(&self) -> io::Result<Option<Lease>> {
        let Self::Leased { folder, next } = self else { return Ok(None) };
        for _ in 0..COUNT {
            let uid = FIRST + next.fetch_add(1, Ordering::Relaxed) % COUNT;
            let file =
                OpenOptions::new().create(true).truncate(false).write(true).open(folder.join(uid.to_string()))?;
            match file.try_lock() {
                Ok(()) => return Ok(Some(Lease { uid, _lock: file })),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
        Err(io::Error::other("every uid for runs is in use"))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn leased(folder: &Path) -> Users {
        Users::Leased { folder: folder.to_owned(), next: AtomicU32::new(u32::MAX - 3) }
    }

    #[test]
    fn no_two_leases_share_a_uid_and_a_dropped_one_is_free() {
        let folder = tempfile::tempdir().unwrap();
        let (users, other_service) = (leased(folder.path()), leased(folder.path()));
        let leases: Vec<_> =
            (0..50).flat_map(|_| [users.lease().unwrap().unwrap(), other_service.lease().unwrap().unwrap()]).collect();
        let uids: BTreeSet<u32> = leases.iter().map(Lease::uid).collect();
        assert_eq!(uids.len(), leases.len());
        assert!(uids.iter().all(|uid| (FIRST..FIRST + COUNT).contains(uid)));
        drop(leases);
        assert!(users.lease().unwrap().is_some());
    }
}
