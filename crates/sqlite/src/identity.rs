//! Whether the files that are open are still the files that the paths name.
//!
//! An open SQLite file goes on taking writes after it was deleted or replaced. So the device and inode
//! of the paths are compared with those of held descriptors before each commit. The descriptors are
//! opened with `O_PATH`: closing any ordinary descriptor of the file would drop SQLite's own locks.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, fstat, openat, stat};

/// The files of an open database.
#[derive(Debug)]
pub(crate) struct Identity {
    database: Held,
    log: Held,
}

#[derive(Debug)]
struct Held {
    path: PathBuf,
    descriptor: OwnedFd,
}

impl Held {
    fn new(path: PathBuf) -> io::Result<Self> {
        let descriptor = openat(CWD, &path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
        Ok(Self { path, descriptor })
    }

    fn check(&self) -> Result<(), String> {
        let shown = self.path.display();
        let held = fstat(&self.descriptor).map_err(|error| format!("{shown} cannot be looked at: {error}"))?;
        let named = stat(&self.path).map_err(|error| format!("{shown} is gone: {error}"))?;
        if (held.st_dev, held.st_ino) == (named.st_dev, named.st_ino) {
            return Ok(());
        }
        Err(format!("{shown} was replaced while it was open"))
    }
}

impl Identity {
    /// Holds the files of the database at this path, which must be open in WAL mode.
    pub(crate) fn hold(database: &Path) -> io::Result<Self> {
        let mut log = database.as_os_str().to_owned();
        log.push("-wal");
        Ok(Self { database: Held::new(database.to_owned())?, log: Held::new(log.into())? })
    }

    /// Holds the write-ahead log anew, as a new connection may have made a new one; the database itself
    /// must be the same.
    pub(crate) fn renew(&self) -> Result<Self, String> {
        self.database.check()?;
        let renewed = Self::hold(&self.database.path).map_err(|error| error.to_string())?;
        self.database.check()?;
        Ok(renewed)
    }

    /// Checks that the paths still name the held files.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.database.check()?;
        self.log.check()
    }
}
