//! The store: readers in parallel, changes through the writer.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use belljar_core::ids::OwnerId;
use belljar_core::ports::{StoreError, Stored};
use sqlx::SqlitePool;
use tokio::sync::{mpsc, oneshot};

use crate::error::OpenError;
use crate::heads::Heads;
use crate::owner::Owner;
use crate::writer::{Change, Done, Job};

/// Where a store is and how long it waits for others.
#[derive(Clone, Debug)]
pub struct StoreOptions {
    /// The state folder.
    pub folder: PathBuf,
    /// How long a change waits for another process's transaction before it is refused.
    pub busy_timeout: Duration,
}

impl StoreOptions {
    /// The store of a folder; a change waits at most five seconds.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), busy_timeout: Duration::from_secs(5) }
    }
}

/// The store of a folder. Cheap to clone; all clones are one.
#[derive(Clone)]
pub struct Store {
    shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub(crate) jobs: mpsc::Sender<Job>,
    pub(crate) readers: SqlitePool,
    pub(crate) heads: Heads,
    pub(crate) owner: Owner,
    pub(crate) replaced: Arc<AtomicBool>,
}

impl fmt::Debug for Store {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Store").field("owner", &self.shared.owner.id).finish_non_exhaustive()
    }
}

impl Store {
    /// Opens the store of a folder for the process with this owner id.
    ///
    /// # Errors
    /// [`OpenError`] with the path, the cause and what can be done.
    pub async fn open(options: StoreOptions, owner: OwnerId) -> Result<Self, OpenError> {
        crate::open::open(options, owner).await
    }

    pub(crate) fn new(shared: Shared) -> Self {
        Self { shared: Arc::new(shared) }
    }

    /// Hands a change to the writer and waits until it is durable, or refused.
    pub(crate) async fn write(&self, change: Change) -> Stored<Done> {
        let (answer, answered) = oneshot::channel();
        let gone = || StoreError::unavailable("the writer has ended");
        self.shared.jobs.send(Job { change, answer }).await.map_err(|_| gone())?;
        answered.await.map_err(|_| gone())?
    }

    /// The readers, unless the files were found to be replaced.
    pub(crate) fn readers(&self) -> Stored<&SqlitePool> {
        if self.shared.replaced.load(Ordering::Acquire) {
            return Err(StoreError::unavailable("the database was deleted or replaced while it was open"));
        }
        Ok(&self.shared.readers)
    }

    pub(crate) fn heads(&self) -> &Heads {
        &self.shared.heads
    }

    pub(crate) fn owner_of_runs(&self) -> &Owner {
        &self.shared.owner
    }

    /// The owner id of this process.
    pub(crate) fn owner_id(&self) -> &OwnerId {
        &self.shared.owner.id
    }
}
