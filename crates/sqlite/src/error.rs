//! What keeps a store from being opened, and how SQLite's errors become the ports' errors.

use std::io;
use std::path::PathBuf;

use belljar_core::ports::StoreError;

/// Why a store cannot be opened, with the path and what can be done.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// A folder or file cannot be made, read or written.
    #[error("the store at {} cannot be used: {source}; it needs a folder that this user can write to", path.display())]
    Files {
        /// Which one.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// SQLite refused.
    #[error("the store {} cannot be opened: {source}", path.display())]
    Database {
        /// Which one.
        path: PathBuf,
        /// Why.
        source: sqlx::Error,
    },
    /// The tables cannot be brought to this version.
    #[error("the store {} cannot be used by this version of belljar: {source}", path.display())]
    Schema {
        /// Which one.
        path: PathBuf,
        /// Why; a version that is missing means that a newer binary made the store.
        source: sqlx::migrate::MigrateError,
    },
    /// SQLite does not keep a promise that durability rests on.
    #[error("the store {} does not keep {setting} = {wanted}: it says {found}; use a local file system", path.display())]
    Setting {
        /// Which one.
        path: PathBuf,
        /// The setting.
        setting: &'static str,
        /// What was asked for.
        wanted: &'static str,
        /// What it says.
        found: String,
    },
}

/// An error of SQLite as the ports tell it.
pub(crate) fn unavailable(error: sqlx::Error) -> StoreError {
    StoreError::unavailable(error)
}

/// A stored value that makes no sense.
pub(crate) fn damaged(what: &str) -> StoreError {
    StoreError::Damaged(what.to_owned())
}
