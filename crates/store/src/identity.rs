//! Whether the files that SQLite has open are still those at their paths.
//!
//! An open SQLite file goes on taking writes after somebody deleted or replaced it, and everything that
//! was acknowledged since is gone with the process. So device and inode of path and held descriptor are
//! compared before each commit. The descriptors are `O_PATH`: closing an ordinary one would drop the
//! POSIX locks that SQLite holds on the same file.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustix::fs::{Mode, OFlags, fstat, open, stat};

use crate::folder::Folder;

/// Descriptors of the database, its log, the log's index and the owner file, and whether one was found
/// gone. The index counts too: a process that comes later would make a new one, and the two would write
/// over each other in the log.
#[derive(Debug)]
pub(crate) struct Identity {
    held: Vec<(PathBuf, OwnedFd)>,
    gone: OnceLock<String>,
}

impl Identity {
    /// Holds the files that are at their paths now. The log must be there: a connection has read.
    pub(crate) fn hold(folder: &Folder) -> io::Result<Self> {
        let mut held = Vec::new();
        for path in [folder.database_link(), folder.log(), folder.log_index()] {
            held.push((path.clone(), hold(&path)?));
        }
        Ok(Self { held, gone: OnceLock::new() })
    }

    /// Holds one file more: without its owner file a process counts as dead, and others close its runs.
    pub(crate) fn with(mut self, path: &Path) -> io::Result<Self> {
        self.held.push((path.to_owned(), hold(path)?));
        Ok(self)
    }

    /// Refuses when a file is gone or another; once it did, always.
    pub(crate) fn check(&self) -> Result<(), String> {
        if let Some(gone) = self.gone.get() {
            return Err(gone.clone());
        }
        for (path, held) in &self.held {
            if let Err(what) = is_same(path, held) {
                let message = format!(
                    "{} {what} while it was open; nothing is written any more until the program is started again",
                    path.display()
                );
                tracing::error!(path = %path.display(), "the store refuses: the file {what}");
                return Err(self.gone.get_or_init(|| message).clone());
            }
        }
        Ok(())
    }
}

fn hold(path: &Path) -> io::Result<OwnedFd> {
    Ok(open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?)
}

fn is_same(path: &Path, held: &OwnedFd) -> Result<(), String> {
    let at_path = match stat(path) {
        Ok(facts) => facts,
        Err(rustix::io::Errno::NOENT) => return Err("was deleted".to_owned()),
        Err(error) => return Err(format!("could not be looked at ({error})")),
    };
    let open = fstat(held).map_err(|error| format!("could not be looked at ({error})"))?;
    if (at_path.st_dev, at_path.st_ino) == (open.st_dev, open.st_ino) { Ok(()) } else { Err("was replaced".to_owned()) }
}
