//! A few connections that only read, in parallel. A reader that failed, or whose caller went away in the
//! middle, is closed and not used again.

use std::sync::{Mutex, PoisonError};

use belljar_core::ports::{StoreError, Stored};
use sqlx::{Connection, SqliteConnection};
use tokio::sync::{Semaphore, SemaphorePermit};

/// How many read at once.
const MOST: usize = 4;

/// The idle readers and the places for more.
#[derive(Debug)]
pub(crate) struct Readers {
    idle: Mutex<Vec<SqliteConnection>>,
    places: Semaphore,
}

/// A reader in use.
#[derive(Debug)]
pub(crate) struct Reader<'r> {
    connection: SqliteConnection,
    readers: &'r Readers,
    _place: SemaphorePermit<'r>,
}

impl Readers {
    /// No reader yet.
    pub(crate) fn new() -> Self {
        Self { idle: Mutex::default(), places: Semaphore::new(MOST) }
    }

    /// Waits for a place and takes an idle reader, or the one that `connect` makes.
    pub(crate) async fn take(
        &self,
        connect: impl Future<Output = Result<SqliteConnection, crate::OpenError>> + Send,
    ) -> Stored<Reader<'_>> {
        let place = self.places.acquire().await.map_err(|_| StoreError::unavailable("the store was closed"))?;
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = match idle {
            Some(connection) => connection,
            None => connect.await.map_err(StoreError::unavailable)?,
        };
        Ok(Reader { connection, readers: self, _place: place })
    }

    /// Closes every reader; no further one is given out.
    pub(crate) async fn close(&self) {
        self.places.close();
        let idle = std::mem::take(&mut *self.idle.lock().unwrap_or_else(PoisonError::into_inner));
        for connection in idle {
            if let Err(error) = connection.close().await {
                tracing::warn!(%error, "a reader did not close cleanly");
            }
        }
    }
}

impl Reader<'_> {
    /// The connection.
    pub(crate) const fn connection(&mut self) -> &mut SqliteConnection {
        &mut self.connection
    }

    /// Gives it back: everything that was asked was answered.
    pub(crate) fn give_back(self) {
        self.readers.idle.lock().unwrap_or_else(PoisonError::into_inner).push(self.connection);
    }
}
