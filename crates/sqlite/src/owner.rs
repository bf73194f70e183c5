//! Owners of runs: a process holds a lock on a file of its own for as long as it lives.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use belljar_core::ids::OwnerId;
use sqlx::SqliteConnection;

use crate::open::lock_file;

/// This process as an owner. The lock goes with the last clone of the store, or with the process.
#[derive(Debug)]
pub(crate) struct Owner {
    pub(crate) id: OwnerId,
    folder: PathBuf,
    path: PathBuf,
    _lock: File,
}

impl Owner {
    /// Claims an owner file, and removes those of dead owners that left no open run.
    pub(crate) async fn claim(state: &Path, id: OwnerId, connection: &mut SqliteConnection) -> io::Result<Self> {
        let folder = state.join("owners");
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        let path = folder.join(format!("{id}.lock"));
        let lock = claim(&path)?;
        let owner = Self { id, folder, path, _lock: lock };
        owner.sweep(connection).await?;
        Ok(owner)
    }

    async fn sweep(&self, connection: &mut SqliteConnection) -> io::Result<()> {
        let open: Vec<String> = sqlx::query_scalar("select distinct owner from executions where status = 'running'")
            .fetch_all(connection)
            .await
            .map_err(io::Error::other)?;
        for entry in fs::read_dir(&self.folder)? {
            let path = entry?.path();
            let id = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            if path == self.path || open.iter().any(|owner| owner == id) {
                continue;
            }
            // The file goes while its lock is held, so that nobody claims it in between.
            if let Ok(file) = File::open(&path)
                && file.try_lock().is_ok()
            {
                drop(fs::remove_file(&path));
            }
        }
        Ok(())
    }

    /// Whether an owner is dead: its file is gone, or its lock is free.
    pub(crate) fn is_dead(&self, id: &OwnerId) -> io::Result<bool> {
        if *id == self.id {
            return Ok(false);
        }
        match File::open(self.folder.join(format!("{id}.lock"))) {
            Ok(file) => match file.try_lock() {
                Ok(()) => Ok(true),
                Err(TryLockError::WouldBlock) => Ok(false),
                Err(TryLockError::Error(error)) => Err(error),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
            Err(error) => Err(error),
        }
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        // The file may stay when runs are still open: then the next start closes them as lost, and sweeps.
        drop(fs::remove_file(&self.path));
    }
}

/// Makes and locks the file. Another process's sweep may remove it in between; then it is made again.
fn claim(path: &Path) -> io::Result<File> {
    loop {
        let file = lock_file(path).map_err(io::Error::other)?;
        file.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => io::Error::other("another process has the same owner id"),
            TryLockError::Error(error) => error,
        })?;
        let held = file.metadata()?;
        match fs::metadata(path) {
            Ok(named) if (named.dev(), named.ino()) == (held.dev(), held.ino()) => return Ok(file),
            _ => {}
        }
    }
}
