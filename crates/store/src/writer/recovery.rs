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

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use belljar_core::audit::{Action, AuditDraft};
    use belljar_core::ids::AuditId;
    use belljar_core::time::Timestamp;
    use belljar_executor::TenantId;
    use tokio::sync::mpsc;

    use super::super::{Counts, Transaction};
    use super::*;
    use crate::folder::Folder;
    use crate::heads::HeadsCopy;
    use crate::identity::Identity;
    use crate::migrations;
    use crate::store::Ground;

    const PATIENCE: Duration = Duration::from_secs(5);

    async fn task(root: &std::path::Path) -> Task {
        let folder = Folder::prepare(root).unwrap().with_database().unwrap();
        let mut connection = connection::writer(folder.database(), PATIENCE).await.unwrap();
        migrations::run(folder.database(), &mut connection).await.unwrap();
        let heads = HeadsCopy::new(&folder, PATIENCE);
        let identity = Identity::hold(&folder).unwrap();
        let ground = Arc::new(Ground { folder, busy_timeout: PATIENCE, identity, counts: Counts::default() });
        Task { ground, connection, heads, inbox: mpsc::channel(1).1, poisoned: true, closing: None }
    }

    /// A batch of one entry, ended by this statement.
    async fn batch(task: &mut Task, id: &str, ending: &'static str) -> Vec<Appended> {
        sqlx::query("begin immediate").execute(&mut task.connection).await.unwrap();
        let mut transaction = Transaction::new(&mut task.connection);
        let (tenant, time) = (TenantId::parse("local").unwrap(), Timestamp::from_microseconds(0));
        let draft = AuditDraft::new(AuditId::new(id), tenant, "ada", Action::AccessDenied, "thing", time);
        transaction.append(draft).await.unwrap();
        let appended = transaction.into_appended();
        sqlx::query(ending).execute(&mut task.connection).await.unwrap();
        appended
    }

    #[tokio::test]
    async fn a_batch_that_became_durable_after_all_is_found_and_one_that_did_not_is_fenced_off() {
        let folder = tempfile::tempdir().unwrap();
        let mut task = task(folder.path()).await;
        for (id, ending, is_durable) in [
            ("one", "commit", true),
            ("two", "rollback", false),
            ("three", "select 1", false),
            ("four", "commit", true),
        ] {
            task.poisoned = true;
            let appended = batch(&mut task, id, ending).await;
            assert_eq!(task.reopen(&appended).await.unwrap(), is_durable, "{id}");
            assert!(!task.poisoned);
        }
        let fence: i64 = sqlx::query_scalar("select count from fence").fetch_one(&mut task.connection).await.unwrap();
        assert_eq!(fence, 4, "one for each");
        let head = audit::head(&mut task.connection, &TenantId::parse("local").unwrap()).await.unwrap();
        assert_eq!(head.sequence, 2);
    }

    #[tokio::test]
    async fn a_store_whose_last_entry_was_altered_stays_poisoned() {
        let folder = tempfile::tempdir().unwrap();
        let mut task = task(folder.path()).await;
        let appended = batch(&mut task, "one", "commit").await;
        for sql in ["drop trigger audit_refuses_update", "update audit set actor = 'eve'"] {
            sqlx::query(sql).execute(&mut task.connection).await.unwrap();
        }
        assert!(matches!(task.reopen(&appended).await, Err(StoreError::Damaged(_))));
        assert!(task.poisoned);
    }
}
