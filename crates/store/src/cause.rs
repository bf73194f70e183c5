//! What an error of SQLite means for a port.

use belljar_core::ports::StoreError;

/// The result codes of SQLite that are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    /// Another connection holds the lock.
    Busy,
    /// The file or the connection is read-only.
    ReadOnly,
    /// No space is left.
    Full,
    /// The file is no database.
    NotADatabase,
    /// The file is malformed.
    Corrupt,
    /// Access was denied.
    Permission,
    /// Any other.
    Other,
}

/// The primary result code of an error.
pub(crate) fn code_of(error: &sqlx::Error) -> Code {
    let sqlx::Error::Database(error) = error else { return Code::Other };
    let code: i32 = error.code().and_then(|code| code.parse().ok()).unwrap_or(0);
    match code & 0xff {
        3 | 23 => Code::Permission,
        5 | 6 => Code::Busy,
        8 => Code::ReadOnly,
        11 => Code::Corrupt,
        13 => Code::Full,
        26 => Code::NotADatabase,
        _ => Code::Other,
    }
}

/// The port's error for one of SQLite.
pub(crate) fn store_error(error: sqlx::Error) -> StoreError {
    let decodes = matches!(error, sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_));
    match code_of(&error) {
        Code::Corrupt | Code::NotADatabase => StoreError::Damaged(error.to_string()),
        Code::Other if decodes => StoreError::Damaged(error.to_string()),
        Code::Busy => StoreError::unavailable(format!(
            "another process held the database locked for longer than the busy time-out ({error})"
        )),
        Code::Full => StoreError::unavailable(format!("no space is left on the device ({error})")),
        Code::ReadOnly => StoreError::unavailable(format!("the database is read-only ({error})")),
        _ => StoreError::unavailable(error),
    }
}
