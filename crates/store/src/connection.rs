//! Connections, with what durability rests on read back: a setting that SQLite did not take must stop
//! the store, not weaken it.

use std::path::Path;
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{AssertSqlSafe, ConnectOptions, SqliteConnection};

use crate::error::OpenError;

/// The settings of every connection and the values that they must read back as.
const EVERYWHERE: [(&str, &str); 3] = [("journal_mode", "wal"), ("synchronous", "2"), ("foreign_keys", "1")];

/// The connection that writes.
pub(crate) async fn writer(path: &Path, busy_timeout: Duration) -> Result<SqliteConnection, OpenError> {
    let options = common(path, busy_timeout).journal_mode(SqliteJournalMode::Wal);
    let mut connection = options.connect().await.map_err(|error| OpenError::database(path, error))?;
    read_back(path, &mut connection, &EVERYWHERE).await?;
    Ok(connection)
}

/// A connection that only reads.
pub(crate) async fn reader(path: &Path, busy_timeout: Duration) -> Result<SqliteConnection, OpenError> {
    let options = common(path, busy_timeout).read_only(true).pragma("query_only", "ON");
    let mut connection = options.connect().await.map_err(|error| OpenError::database(path, error))?;
    read_back(path, &mut connection, &EVERYWHERE).await?;
    read_back(path, &mut connection, &[("query_only", "1")]).await?;
    Ok(connection)
}

fn common(path: &Path, busy_timeout: Duration) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(false)
        .foreign_keys(true)
        .synchronous(SqliteSynchronous::Full)
        .busy_timeout(busy_timeout)
        .disable_statement_logging()
}

async fn read_back(
    path: &Path,
    connection: &mut SqliteConnection,
    settings: &[(&'static str, &'static str)],
) -> Result<(), OpenError> {
    for &(pragma, wanted) in settings {
        let sql = format!("select cast({pragma} as text) from pragma_{pragma}");
        let found: String = sqlx::query_scalar(AssertSqlSafe(sql))
            .fetch_one(&mut *connection)
            .await
            .map_err(|error| OpenError::database(path, error))?;
        if found != wanted {
            return Err(OpenError::PragmaNotAccepted { path: path.to_owned(), pragma, wanted, found });
        }
    }
    Ok(())
}
