//! The state folder: which file is where, made for its owner alone.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use crate::error::OpenError;

/// The paths in the state folder.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    root: PathBuf,
    database: PathBuf,
}

impl Folder {
    /// Makes the folder and an empty database when they are not there. Symbolic links are resolved now:
    /// SQLite names its log after the database's true path.
    pub(crate) fn prepare(root: &Path) -> Result<Self, OpenError> {
        make_folder(root)?;
        let root = root.canonicalize().map_err(|error| OpenError::file(root, error))?;
        must_be_writable(&root)?;
        make_folder(&root.join("owners"))?;
        warn_when_open_to_others(&root);
        Ok(Self { database: root.join("belljar.db"), root })
    }

    /// Makes the database, when it is not there, and resolves its path. A new file is made here, and
    /// closed again, only when nobody can have it open: closing it would drop SQLite's locks.
    pub(crate) fn with_database(mut self) -> Result<Self, OpenError> {
        let link = &self.database;
        let made = OpenOptions::new().create_new(true).write(true).mode(0o600).open(link);
        match made {
            Ok(_) => sync_names(&self.root).map_err(|error| OpenError::file(&self.root, error))?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(OpenError::file(link, error)),
        }
        let database = link.canonicalize().map_err(|error| OpenError::file(link, error))?;
        must_be_writable(&database)?;
        self.database = database;
        Ok(self)
    }

    /// The database, with links resolved.
    pub(crate) fn database(&self) -> &Path {
        &self.database
    }

    /// The database as it is named in the folder.
    pub(crate) fn database_link(&self) -> PathBuf {
        self.root.join("belljar.db")
    }

    /// The write-ahead log.
    pub(crate) fn log(&self) -> PathBuf {
        let mut name = self.database.clone().into_os_string();
        name.push("-wal");
        name.into()
    }

    /// The index of the log, in memory that all processes share.
    pub(crate) fn log_index(&self) -> PathBuf {
        let mut name = self.database.clone().into_os_string();
        name.push("-shm");
        name.into()
    }

    /// The folder itself.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The lock under which a store is opened.
    pub(crate) fn open_lock(&self) -> PathBuf {
        self.root.join("open.lock")
    }

    /// The copy of the heads.
    pub(crate) fn heads(&self) -> PathBuf {
        self.root.join("audit-heads")
    }

    /// The owner files.
    pub(crate) fn owners(&self) -> PathBuf {
        self.root.join("owners")
    }
}

fn make_folder(path: &Path) -> Result<(), OpenError> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(|error| OpenError::file(path, error))
}

/// SQLite opens what it may not write for reading only, and says so much later and less clearly.
fn must_be_writable(path: &Path) -> Result<(), OpenError> {
    access(path, Access::WRITE_OK | Access::READ_OK).map_err(|error| OpenError::file(path, error.into()))
}

/// Makes the names of the folder and of what is in it survive a power cut.
fn sync_names(root: &Path) -> io::Result<()> {
    File::open(root)?.sync_all()?;
    // The parent may be one that this user cannot read; then its name is as safe as it was before.
    root.parent().and_then(|parent| File::open(parent).ok()).map_or(Ok(()), |parent| parent.sync_all())
}

fn warn_when_open_to_others(root: &Path) {
    let mode = root.metadata().map_or(0o700, |metadata| metadata.permissions().mode());
    if mode & 0o077 != 0 {
        tracing::warn!(folder = %root.display(), "others may enter the state folder; `chmod 700` closes it");
    }
}
