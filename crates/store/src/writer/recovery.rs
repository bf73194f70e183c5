//! After a commit that failed: a fresh connection, and the truth about the batch.

use belljar_core::ports::{StoreError, Stored};
use sqlx::{Connection, SqliteConnection};

use super::{Appended, Task};
use crate::cause::store_error;
use crate::{audit, connection};

impl Task {
    /// Replaces the poisoned connection. Answers whether the batch that appended these entries is in the
    /// database. The old connection stays open until the new one is: the last one to close would remove
    /// the log, whose identity is held.
    pub(super) async fn reopen(&mut self, batch: &[Appended]) -> Stored<bool> {
        self.roll_back().await;
        self.ground.identity.check().map_err(StoreError::unavailable)?;
        let fresh = connection::writer(self.ground.folder.database(), self.ground.busy_timeout)
            .await
            .map_err(StoreError::unavailable)?;
        let old = std::mem::replace(&mut self.connection, fresh);
        if let Err(error) = old.close().await {
            tracing::debug!(%error, "the poisoned connection did not close cleanly");
        }
        self.ground.identity.check().map_err(StoreError::unavailable)?;
        let is_there = self.look_for(batch).await?;
        match fence(&mut self.connection).await {
            Ok(()) => self.poisoned = false,
            Err(error) if is_there => tracing::error!(%error, "the store is not usable again yet"),
            Err(error) => return Err(error),
        }
        Ok(is_there)
    }

    async fn look_for(&mut self, batch: &[Appended]) -> Stored<bool> {
        let mut is_there = !batch.is_empty();
        for entry in batch {
            audit::check_head(&mut self.connection, &entry.tenant).await?;
            is_there &= audit::has(&mut self.connection, &entry.tenant, &entry.id).await?;
        }
        Ok(is_there)
    }
}

/// Commits something small, where the frames of the failed commit would be.
async fn fence(connection: &mut SqliteConnection) -> Stored<()> {
    for sql in ["begin immediate", "update fence set count = count + 1", "commit"] {
        sqlx::query(sql).execute(&mut *connection).await.map_err(store_error)?;
    }
    Ok(())
}
