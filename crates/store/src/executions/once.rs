//! Keys under which runs were started.

use belljar_core::execution::ExecutionRecord;
use belljar_core::once::{Earlier, IdempotencyKey, Once, REMEMBERED};
use belljar_core::ports::Stored;
use belljar_core::time::Timestamp;
use belljar_executor::{ExecutionId, TenantId};
use sqlx::SqliteConnection;

use crate::cause::store_error;
use crate::row;

/// The run that a caller opened under a key, at or after this moment.
pub(super) async fn find(
    connection: &mut SqliteConnection,
    tenant: &TenantId,
    caller: &str,
    key: &IdempotencyKey,
    since: Timestamp,
) -> Stored<Option<Earlier>> {
    let found = sqlx::query(
        "select call, execution from idempotency where tenant = ? and caller = ? and key = ? and created_at >= ?",
    )
    .bind(tenant.as_str())
    .bind(caller)
    .bind(key.as_str())
    .bind(since.microseconds())
    .fetch_optional(connection)
    .await
    .map_err(store_error)?;
    let earlier = found.map(|found| {
        let execution_id = row::parsed("execution", ExecutionId::parse(&row::text(&found, "execution")?))?;
        Ok(Earlier { execution_id, call: row::digest(&found, "call")? })
    });
    earlier.transpose()
}

/// The run that has the key of this one; keys that are too old are forgotten.
pub(super) async fn taken(
    connection: &mut SqliteConnection,
    record: &ExecutionRecord,
    once: &Once,
) -> Stored<Option<Earlier>> {
    let since = record.created_at.before(REMEMBERED);
    sqlx::query("delete from idempotency where created_at < ?")
        .bind(since.microseconds())
        .execute(&mut *connection)
        .await
        .map_err(store_error)?;
    find(connection, &record.tenant, &record.caller, &once.key, since).await
}

/// Keeps the key of a run that was opened.
pub(super) async fn keep(connection: &mut SqliteConnection, record: &ExecutionRecord, once: &Once) -> Stored<()> {
    sqlx::query("insert into idempotency (tenant, caller, key, call, execution, created_at) values (?, ?, ?, ?, ?, ?)")
        .bind(record.tenant.as_str())
        .bind(record.caller.as_str())
        .bind(once.key.as_str())
        .bind(row::bytes_of(&once.call))
        .bind(record.execution_id.as_str())
        .bind(record.created_at.microseconds())
        .execute(connection)
        .await
        .map(drop)
        .map_err(store_error)
}

/// Forgets the key of a run that was not started.
pub(super) async fn free(connection: &mut SqliteConnection, record: &ExecutionRecord) -> Stored<()> {
    sqlx::query("delete from idempotency where tenant = ? and execution = ?")
        .bind(record.tenant.as_str())
        .bind(record.execution_id.as_str())
        .execute(connection)
        .await
        .map(drop)
        .map_err(store_error)
}
