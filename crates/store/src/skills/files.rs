//! Reading a revision's files: exactly those of its manifest, each hashed again.

use std::collections::BTreeMap;
use std::sync::Arc;

use belljar_core::ids::RevisionId;
use belljar_core::ports::{StoreError, Stored};
use belljar_executor::{Digest, FileTree, LogicalPath, TenantId};
use sqlx::Row;

use crate::cause::store_error;
use crate::row;
use crate::store::Store;

/// The files of a revision.
pub(super) async fn read(store: &Store, tenant: &TenantId, revision: &RevisionId) -> Stored<FileTree> {
    let mut reader = store.reader().await?;
    let manifest = sqlx::query("select * from revision where tenant = ? and id = ?")
        .bind(tenant.as_str())
        .bind(revision.as_str())
        .fetch_optional(reader.connection())
        .await
        .map_err(store_error)?;
    let rows = sqlx::query(
        "select file.path, file.sha256, blob.bytes from revision_file as file
         left join blob on blob.tenant = file.tenant and blob.sha256 = file.sha256
         where file.tenant = ? and file.revision = ?",
    )
    .bind(tenant.as_str())
    .bind(revision.as_str())
    .fetch_all(reader.connection())
    .await
    .map_err(store_error)?;
    reader.give_back();
    let Some(manifest) = manifest else {
        return Err(StoreError::Damaged(format!("there is no revision {revision}")));
    };
    let manifest = super::revision(&manifest)?.manifest;
    let mut files = BTreeMap::new();
    for found in &rows {
        let path = row::parsed("path", LogicalPath::parse(&row::text(found, "path")?))?;
        let digest = row::digest(found, "sha256")?;
        let bytes: Option<Vec<u8>> = found.try_get("bytes").map_err(store_error)?;
        let wanted = manifest.files.get(&path).map(|entry| entry.sha256);
        match bytes {
            Some(bytes) if Digest::of(&bytes) == digest && wanted == Some(digest) => {
                files.insert(path, Arc::from(bytes));
            }
            _ => return Err(damaged(revision, &path)),
        }
    }
    match manifest.files.keys().find(|path| !files.contains_key(path)) {
        Some(missing) => Err(damaged(revision, missing)),
        None => Ok(FileTree::new(files)),
    }
}

fn damaged(revision: &RevisionId, path: &LogicalPath) -> StoreError {
    StoreError::Damaged(format!("file {path} of revision {revision} is not the one that was saved"))
}
