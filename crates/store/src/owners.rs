//! Which processes that started runs are still alive: each holds the lock of a file of its own, which
//! the kernel frees with the process, however it ends.

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use belljar_core::ids::OwnerId;

use crate::error::OpenError;
use crate::lock;

/// How often a file that a sweep took away is made again.
const TRIES: u32 = 1000;

/// This process's owner file, locked.
#[derive(Debug)]
pub(crate) struct OwnerLock {
    _file: File,
    path: PathBuf,
}

impl OwnerLock {
    /// The file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// Makes and locks the file of this owner. A sweep of another process may hold it for a moment, or take
/// it away between making and locking; then the path is another file or none, and all starts again.
/// Blocks.
pub(crate) fn take(folder: &Path, owner: &OwnerId) -> Result<OwnerLock, OpenError> {
    let path = path_of(folder, owner).ok_or_else(|| OpenError::InvalidOwner(owner.to_string()))?;
    for _ in 0..TRIES {
        let file = lock::open(&path).map_err(|error| OpenError::file(&path, error))?;
        match file.try_lock() {
            Ok(()) if is_at(&path, &file) => return Ok(OwnerLock { _file: file, path }),
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => std::thread::sleep(std::time::Duration::from_millis(1)),
            Err(TryLockError::Error(error)) => return Err(OpenError::file(&path, error)),
        }
    }
    Err(OpenError::OwnerTaken(path))
}

/// Whether the process of this owner is dead: its file is gone, or its lock is free. Asks with a shared
/// lock, so that two who ask at once do not take each other for the owner.
pub(crate) fn is_dead(folder: &Path, owner: &OwnerId) -> io::Result<bool> {
    let Some(path) = path_of(folder, owner) else { return Ok(true) };
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        Err(error) => return Err(error),
    };
    match file.try_lock_shared() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Removes the files of dead owners that have no open run. Blocks.
pub(crate) fn sweep(folder: &Path, with_open_runs: &BTreeSet<OwnerId>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let owner = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix(".lock"));
        if owner.is_none_or(|owner| with_open_runs.contains(&OwnerId::new(owner))) {
            continue;
        }
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        if file.try_lock().is_ok() && is_at(&path, &file) {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

fn path_of(folder: &Path, owner: &OwnerId) -> Option<PathBuf> {
    let text = owner.as_str();
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let is_name = !text.is_empty() && text.len() <= 128 && text.chars().all(plain);
    is_name.then(|| folder.join(format!("{text}.lock")))
}

fn is_at(path: &Path, file: &File) -> bool {
    let Ok((at_path, held)) = path.metadata().and_then(|at_path| Ok((at_path, file.metadata()?))) else { return false };
    (at_path.dev(), at_path.ino()) == (held.dev(), held.ino())
}
