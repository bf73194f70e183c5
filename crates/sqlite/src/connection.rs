//! Connections: every setting that durability rests on is set, and read back.

use std::path::Path;
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, SqliteConnection, SqlitePool};

use crate::error::OpenError;

/// How many readers work at once.
const READERS: u32 = 4;

/// Opens a connection that writes.
pub(crate) async fn writer(path: &Path, busy: Duration) -> Result<SqliteConnection, OpenError> {
    let failed = |source| OpenError::Database { path: path.to_owned(), source };
    let options = options(path, busy).journal_mode(SqliteJournalMode::Wal).synchronous(SqliteSynchronous::Full);
    let mut connection = options.connect().await.map_err(failed)?;
    let journal: String = sqlx::query_scalar("pragma journal_mode").fetch_one(&mut connection).await.map_err(failed)?;
    let synchronous: i64 = sqlx::query_scalar("pragma synchronous").fetch_one(&mut connection).await.map_err(failed)?;
    let refused = |setting, wanted, found| OpenError::Setting { path: path.to_owned(), setting, wanted, found };
    if journal != "wal" {
        return Err(refused("journal_mode", "wal", journal));
    }
    // 2 is FULL.
    if synchronous != 2 {
        return Err(refused("synchronous", "full", synchronous.to_string()));
    }
    Ok(connection)
}

/// Connections that only read.
pub(crate) fn readers(path: &Path, busy: Duration) -> SqlitePool {
    let options = options(path, busy).pragma("query_only", "on");
    SqlitePoolOptions::new().max_connections(READERS).acquire_timeout(busy).connect_lazy_with(options)
}

fn options(path: &Path, busy: Duration) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(false)
        .foreign_keys(true)
        .busy_timeout(busy)
        .disable_statement_logging()
}
