//! Columns to values, checked: a value that the core could not have written means damage.

use belljar_core::ports::{StoreError, Stored};
use belljar_core::time::Timestamp;
use belljar_executor::{Digest, TenantId};
use sqlx::Row;
use sqlx::sqlite::SqliteRow;

use crate::cause::store_error;

/// A text.
pub(crate) fn text(row: &SqliteRow, column: &str) -> Stored<String> {
    row.try_get(column).map_err(store_error)
}

/// A text that may be absent.
pub(crate) fn optional_text(row: &SqliteRow, column: &str) -> Stored<Option<String>> {
    row.try_get(column).map_err(store_error)
}

/// An unsigned number.
pub(crate) fn number<T: TryFrom<i64>>(row: &SqliteRow, column: &str) -> Stored<T> {
    let value: i64 = row.try_get(column).map_err(store_error)?;
    T::try_from(value).map_err(|_| StoreError::Damaged(format!("column {column}: {value} is out of range")))
}

/// A point in time.
pub(crate) fn time(row: &SqliteRow, column: &str) -> Stored<Timestamp> {
    row.try_get(column).map(Timestamp::from_microseconds).map_err(store_error)
}

/// A point in time that may be absent.
pub(crate) fn optional_time(row: &SqliteRow, column: &str) -> Stored<Option<Timestamp>> {
    let value: Option<i64> = row.try_get(column).map_err(store_error)?;
    Ok(value.map(Timestamp::from_microseconds))
}

/// A digest.
pub(crate) fn digest(row: &SqliteRow, column: &str) -> Stored<Digest> {
    optional_digest(row, column)?.ok_or_else(|| StoreError::Damaged(format!("column {column}: no digest")))
}

/// A digest that may be absent.
pub(crate) fn optional_digest(row: &SqliteRow, column: &str) -> Stored<Option<Digest>> {
    let bytes: Option<Vec<u8>> = row.try_get(column).map_err(store_error)?;
    let Some(bytes) = bytes else { return Ok(None) };
    let bytes = <[u8; 32]>::try_from(bytes)
        .map_err(|bytes| StoreError::Damaged(format!("column {column}: {} bytes are no digest", bytes.len())))?;
    Ok(Some(Digest::from_bytes(bytes)))
}

/// A tenant.
pub(crate) fn tenant(row: &SqliteRow, column: &str) -> Stored<TenantId> {
    parsed(column, TenantId::parse(&text(row, column)?))
}

/// A name that was read, or the damage that it is.
pub(crate) fn parsed<T, E: std::fmt::Display>(column: &str, name: Result<T, E>) -> Stored<T> {
    name.map_err(|error| StoreError::Damaged(format!("column {column}: {error}")))
}

/// The bytes of a digest, as a column holds them.
pub(crate) fn bytes_of(digest: &Digest) -> Vec<u8> {
    digest.as_bytes().to_vec()
}
