//! Opening: folder, file, settings, tables, owner.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use belljar_core::ids::OwnerId;
use sqlx::SqliteConnection;

use crate::connection;
use crate::error::OpenError;
use crate::heads::Heads;
use crate::identity::Identity;
use crate::owner::Owner;
use crate::store::{Shared, Store, StoreOptions};
use crate::writer::Writer;

/// The name of the database in the state folder.
const DATABASE: &str = "belljar.db";

/// Opens the store of a folder, which is made when it is not there.
pub(crate) async fn open(options: StoreOptions, owner: OwnerId) -> Result<Store, OpenError> {
    let StoreOptions { folder, busy_timeout } = options;
    let folder = make_folder(&folder)?;
    let path = folder.join(DATABASE);
    // Two processes that open a new folder at once take turns.
    let turn = lock_file(&folder.join("open.lock"))?;
    turn.lock().map_err(|source| OpenError::Files { path: folder.join("open.lock"), source })?;
    make_database(&path)?;
    let mut connection = connection::writer(&path, busy_timeout).await?;
    migrate(&mut connection, &path).await?;
    let identity = Identity::hold(&path).map_err(|source| OpenError::Files { path: path.clone(), source })?;
    let owner = Owner::claim(&folder, owner, &mut connection)
        .await
        .map_err(|source| OpenError::Files { path: folder.join("owners"), source })?;
    drop(turn);
    let heads = Heads::new(&folder);
    let replaced = Arc::new(AtomicBool::new(false));
    let readers = connection::readers(&path, busy_timeout);
    let writer = Writer { path, busy_timeout, identity, heads: heads.clone(), replaced: Arc::clone(&replaced) };
    let jobs = writer.start(connection);
    Ok(Store::new(Shared { jobs, readers, heads, owner, replaced }))
}

fn make_folder(folder: &Path) -> Result<PathBuf, OpenError> {
    let failed = |source| OpenError::Files { path: folder.to_owned(), source };
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
    // Links are resolved once, here: afterwards a path names what it named at the start.
    fs::canonicalize(folder).map_err(failed)
}

/// A lock file of this folder, which nobody but its owner may open.
pub(crate) fn lock_file(path: &Path) -> Result<File, OpenError> {
    OpenOptions::new()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .mode(0o600)
        .open(path)
        .map_err(|source| OpenError::Files { path: path.to_owned(), source })
}

/// Makes the file with narrow rights. Only a file that is not there is opened here: closing a descriptor
/// of one that another store of this process has open would drop that store's locks.
fn make_database(path: &Path) -> Result<(), OpenError> {
    let failed = |source| OpenError::Files { path: path.to_owned(), source };
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let kind = fs::symlink_metadata(path).map_err(failed)?.file_type();
            if kind.is_file() { Ok(()) } else { Err(failed(io::Error::other("it is not a plain file"))) }
        }
        Err(error) => Err(failed(error)),
    }
}

async fn migrate(connection: &mut SqliteConnection, path: &Path) -> Result<(), OpenError> {
    sqlx::migrate!("./migrations")
        .run(&mut *connection)
        .await
        .map_err(|source| OpenError::Schema { path: path.to_owned(), source })?;
    // Taking the write lock once shows that the store can be written, and makes the write-ahead log.
    let failed = |source| OpenError::Database { path: path.to_owned(), source };
    sqlx::query("begin immediate").execute(&mut *connection).await.map_err(failed)?;
    sqlx::query("rollback").execute(&mut *connection).await.map_err(failed)?;
    Ok(())
}
