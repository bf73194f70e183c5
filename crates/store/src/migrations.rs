//! The schema, embedded and checksummed, brought up to date at open.

use std::path::Path;

use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};
use sqlx::{SqlSafeStr, SqliteConnection};

use crate::error::OpenError;

/// Name and text of every migration; the version is the place in the list, from 1.
const ALL: [(&str, &str); 5] = [
    ("first", include_str!("../migrations/0001_first.sql")),
    ("cancellation", include_str!("../migrations/0002_cancellation.sql")),
    ("pending", include_str!("../migrations/0003_pending.sql")),
    ("search", include_str!("../migrations/0004_search.sql")),
    ("idempotency", include_str!("../migrations/0005_idempotency.sql")),
];

/// Brings the schema up to date. The caller holds the open lock, so that two processes do not both try.
pub(crate) async fn run(path: &Path, connection: &mut SqliteConnection) -> Result<(), OpenError> {
    let migrations = (1..).zip(ALL).map(|(version, (name, sql))| {
        Migration::new(version, name.into(), MigrationType::Simple, sql.into_sql_str(), false)
    });
    let migrator = Migrator::with_migrations(migrations.collect());
    let known = migrator.iter().map(|migration| migration.version).max().unwrap_or(0);
    let path = path.to_owned();
    match migrator.run_direct(None, connection, false).await {
        Ok(()) => Ok(()),
        Err(MigrateError::VersionMissing(found)) if found > known => Err(OpenError::NewerSchema { path, found, known }),
        Err(
            MigrateError::VersionMissing(version)
            | MigrateError::VersionMismatch(version)
            | MigrateError::Dirty(version),
        ) => Err(OpenError::OtherSchema { path, version }),
        Err(MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _)) => {
            Err(OpenError::database(&path, error))
        }
        Err(error) => Err(OpenError::Database { path, source: error.into() }),
    }
}
