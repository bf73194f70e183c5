//! The store: opened once, cloned freely.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use belljar_core::ids::OwnerId;
use belljar_core::ports::{Ids, Ports, StoreError, Stored};
use sqlx::{Connection, SqliteConnection};

use crate::cause::store_error;
use crate::error::OpenError;
use crate::folder::Folder;
use crate::heads::{Heads, HeadsCopy};
use crate::identity::Identity;
use crate::options::StoreOptions;
use crate::owners::{self, OwnerLock};
use crate::readers::{Reader, Readers};
use crate::system::{SystemClock, UuidIds};
use crate::writer::{Change, Counts, Writer};
use crate::{connection, executions, lock, migrations, skills};

/// SQLite behind the ports of the core. Clones share one writer and one owner lock, which is held until
/// the last of them is gone.
#[derive(Clone, Debug)]
pub struct Store {
    writer: Writer,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    ground: Arc<Ground>,
    readers: Readers,
    heads: HeadsCopy,
    owner: OwnerId,
    _owner_lock: OwnerLock,
}

/// What writer and readers stand on.
#[derive(Debug)]
pub(crate) struct Ground {
    pub(crate) folder: Folder,
    pub(crate) busy_timeout: Duration,
    pub(crate) identity: Identity,
    pub(crate) counts: Counts,
}

impl Store {
    /// Opens the store of a state folder, as a new owner of runs. Makes the folder and the database when
    /// they are not there, and brings the schema up to date.
    ///
    /// # Errors
    /// [`OpenError`], by cause.
    pub async fn open(options: StoreOptions) -> Result<Self, OpenError> {
        Self::open_as(options, OwnerId::new(&UuidIds.new_id())).await
    }

    /// The store as the ports of a service, with the clock of this machine and fresh ids.
    #[must_use]
    pub fn ports(&self) -> Ports {
        let store = Arc::new(self.clone());
        Ports {
            skills: store.clone(),
            grants: store.clone(),
            audit: store.clone(),
            executions: store.clone(),
            pauses: store,
            clock: Arc::new(SystemClock),
            ids: Arc::new(UuidIds),
        }
    }

    /// Opens the store of a state folder, as this owner of runs. Makes the folder and the database when
    /// they are not there, and brings the schema up to date.
    ///
    /// # Errors
    /// [`OpenError`], by cause.
    pub async fn open_as(options: StoreOptions, owner: OwnerId) -> Result<Self, OpenError> {
        let StoreOptions { folder: root, busy_timeout } = options;
        let prepared = blocking(root.clone(), move || {
            let folder = Folder::prepare(&root)?;
            let lock_path = folder.open_lock();
            let lock = lock::take(&lock_path, busy_timeout).map_err(|error| OpenError::file(&lock_path, error))?;
            Ok((folder.with_database()?, lock))
        });
        let (folder, open_lock) = prepared.await?;
        let mut writing = connection::writer(folder.database(), busy_timeout).await?;
        let opened = Self::ready(&folder, &mut writing, &owner).await;
        drop(open_lock);
        let (identity, owner_lock) = match opened {
            Ok(opened) => opened,
            Err(error) => {
                if let Err(error) = writing.close().await {
                    tracing::debug!(%error, "a store that could not be opened did not close cleanly");
                }
                return Err(error);
            }
        };
        let heads = HeadsCopy::new(&folder, busy_timeout);
        let ground = Arc::new(Ground { folder, busy_timeout, identity, counts: Counts::default() });
        let writer = Writer::start(Arc::clone(&ground), writing, heads.clone());
        let shared = Shared { ground, readers: Readers::new(), heads, owner, _owner_lock: owner_lock };
        Ok(Self { writer, shared: Arc::new(shared) })
    }

    /// Schema, identity and owner lock, under the open lock.
    async fn ready(
        folder: &Folder,
        writing: &mut SqliteConnection,
        owner: &OwnerId,
    ) -> Result<(Identity, OwnerLock), OpenError> {
        let database = folder.database();
        migrations::run(database, writing).await?;
        index(writing).await.map_err(|error| OpenError::Index { path: database.to_owned(), source: error })?;
        let with_open_runs =
            executions::owners_of_open_runs(writing).await.map_err(|error| OpenError::database(database, error))?;
        let identity = Identity::hold(folder).map_err(|error| OpenError::file(&folder.log(), error))?;
        identity.check().map_err(OpenError::Replaced)?;
        let (owners, owner) = (folder.owners(), owner.clone());
        let lock = blocking(owners.clone(), move || {
            let lock = owners::take(&owners, &owner)?;
            let with_open_runs: BTreeSet<_> = with_open_runs.into_iter().collect();
            owners::sweep(&owners, &with_open_runs).map_err(|error| OpenError::file(&owners, error))?;
            Ok(lock)
        });
        let lock = lock.await?;
        let identity = identity.with(lock.path()).map_err(|error| OpenError::file(lock.path(), error))?;
        Ok((identity, lock))
    }

    /// Waits for the changes that were asked for and closes every connection. Clones refuse from now on.
    pub async fn close(self) {
        self.shared.readers.close().await;
        self.writer.close().await;
    }

    /// How many commits this store has made.
    #[doc(hidden)]
    #[must_use]
    pub fn commits(&self) -> u64 {
        self.shared.ground.counts.commits.load(Ordering::Relaxed)
    }

    /// How many times the heads could not be copied after a commit.
    #[must_use]
    pub fn heads_not_copied(&self) -> u64 {
        self.shared.ground.counts.heads_not_copied.load(Ordering::Relaxed)
    }

    /// Hands a change to the writer.
    pub(crate) async fn change<C: Change>(&self, change: C) -> Stored<C::Answer> {
        self.writer.submit(change).await
    }

    /// A connection to read with. Refused once the files were found gone.
    pub(crate) async fn reader(&self) -> Stored<Reader<'_>> {
        let ground = &self.shared.ground;
        let reader =
            self.shared.readers.take(connection::reader(ground.folder.database(), ground.busy_timeout)).await?;
        ground.identity.check().map_err(StoreError::unavailable)?;
        Ok(reader)
    }

    /// The copied heads.
    pub(crate) async fn heads(&self) -> Stored<Heads> {
        let heads = self.shared.heads.clone();
        tokio::task::spawn_blocking(move || heads.read()).await.map_err(StoreError::unavailable)?
    }

    /// This process as an owner of runs.
    pub(crate) fn owner_id(&self) -> &OwnerId {
        &self.shared.owner
    }

    /// The folder of the owner files.
    pub(crate) fn owners_folder(&self) -> PathBuf {
        self.shared.ground.folder.owners()
    }
}

/// Makes the documents for search that are missing, in one transaction.
async fn index(writing: &mut SqliteConnection) -> Stored<()> {
    let mut transaction = writing.begin_with("begin immediate").await.map_err(store_error)?;
    skills::catch_up(&mut transaction).await?;
    transaction.commit().await.map_err(store_error)
}

/// Runs what blocks where it may.
async fn blocking<T: Send + 'static>(
    path: PathBuf,
    work: impl FnOnce() -> Result<T, OpenError> + Send + 'static,
) -> Result<T, OpenError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => Err(OpenError::File { path, source: std::io::Error::other(error) }),
    }
}
