//! Why a store could not be opened, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

use crate::cause::{Code, code_of};

/// Why a store could not be opened. Each message names the path, the cause and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The file system is mounted read-only.
    #[error("{}: the file system is read-only; name a state folder that can be written", .0.display())]
    ReadOnly(PathBuf),
    /// The permissions do not let this user in.
    #[error("{}: not permitted for this user; give the folder to this user or name another state folder", .0.display())]
    NotPermitted(PathBuf),
    /// The disk is full.
    #[error("{}: no space is left on the device; free some and try again", .0.display())]
    Full(PathBuf),
    /// Something that is no folder stands where the state folder should be.
    #[error("{}: not a folder; name another state folder", .0.display())]
    NotAFolder(PathBuf),
    /// Another process holds it.
    #[error("{}: another process holds it locked; end that process or wait for it, then try again", .0.display())]
    Locked(PathBuf),
    /// The file is no SQLite database.
    #[error("{}: not a belljar database; move it away or restore it from a backup", .0.display())]
    NotADatabase(PathBuf),
    /// The database was made by a newer program.
    #[error("{}: its schema has version {found}, this program knows {known}; use a newer belljar", path.display())]
    NewerSchema {
        /// The database.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The newest version this program knows.
        known: i64,
    },
    /// A migration that was applied is not the one this program has.
    #[error("{}: its schema version {version} is not this program's; use the belljar that made it", path.display())]
    OtherSchema {
        /// The database.
        path: PathBuf,
        /// The version that differs.
        version: i64,
    },
    /// The skills could not be made ready to be searched.
    #[error("{}: the text of the skills could not be indexed: {source}", path.display())]
    Index {
        /// The database.
        path: PathBuf,
        /// Why.
        source: belljar_core::ports::StoreError,
    },
    /// SQLite did not take a setting that durability rests on.
    #[error(
        "{}: SQLite answers {pragma} = {found} where {wanted} is needed; use a local file system that has shared memory and locks",
        path.display()
    )]
    PragmaNotAccepted {
        /// The database.
        path: PathBuf,
        /// The setting.
        pragma: &'static str,
        /// The value that is needed.
        wanted: &'static str,
        /// The value that SQLite answers.
        found: String,
    },
    /// The files were deleted or replaced while they were opened.
    #[error("{0}; open the store again")]
    Replaced(String),
    /// The owner's id cannot be a file name.
    #[error("the owner id `{0}` has other characters than letters, digits, `-`, `_` and `.`")]
    InvalidOwner(String),
    /// A living process has the same owner id.
    #[error("{}: another store of the same owner id is open; use a fresh id for each", .0.display())]
    OwnerTaken(PathBuf),
    /// A file could not be read or written, for another reason.
    #[error("{}: {source}; see to that and try again", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// SQLite failed, for another reason.
    #[error("{}: {source}; see to that and try again", path.display())]
    Database {
        /// The database.
        path: PathBuf,
        /// The reason.
        source: sqlx::Error,
    },
}

impl OpenError {
    /// The error that a failed file operation means.
    pub(crate) fn file(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly(path),
            io::ErrorKind::PermissionDenied => Self::NotPermitted(path),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full(path),
            io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => Self::NotAFolder(path),
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Self::Locked(path),
            _ => Self::File { path, source },
        }
    }

    /// The error that a failed statement means.
    pub(crate) fn database(path: &Path, source: sqlx::Error) -> Self {
        let path = path.to_owned();
        match code_of(&source) {
            Code::Busy => Self::Locked(path),
            Code::ReadOnly => Self::ReadOnly(path),
            Code::Full => Self::Full(path),
            Code::NotADatabase | Code::Corrupt => Self::NotADatabase(path),
            Code::Permission => Self::NotPermitted(path),
            Code::Other => Self::Database { path, source },
        }
    }
}
