use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use belljar_core::audit::Action;
use belljar_core::ids::OwnerId;
use belljar_core::ports::Audit;
use belljar_store::{OpenError, Store, StoreOptions};
use sqlx::Connection;

use crate::world::{assert_valid, draft, folder, fresh, open, tenant};

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

async fn try_open(folder: &Path) -> Result<Store, OpenError> {
    Store::open_as(StoreOptions::new(folder), OwnerId::new(&fresh("owner"))).await
}

async fn alter(folder: &Path, sql: &str) {
    let path = folder.join("belljar.db");
    let mut connection = sqlx::SqliteConnection::connect(path.to_str().unwrap()).await.unwrap();
    sqlx::query(sqlx::AssertSqlSafe(sql.to_owned())).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

#[tokio::test]
async fn a_new_folder_and_its_files_are_for_their_owner_alone() {
    let folder = folder();
    let deep = folder.path().join("a/b");
    let store = open(&deep).await;
    store.append(draft(Action::AccessDenied)).await.unwrap();
    assert_eq!([mode(&deep), mode(&deep.join("owners"))], [0o700; 2]);
    for name in ["belljar.db", "belljar.db-wal", "belljar.db-shm", "audit-heads"] {
        assert_eq!(mode(&deep.join(name)), 0o600, "{name}");
    }
}

#[tokio::test]
async fn what_was_written_is_there_when_opened_again() {
    let folder = folder();
    let store = open(folder.path()).await;
    store.append(draft(Action::AccessDenied)).await.unwrap();
    store.close().await;
    let store = open(folder.path()).await;
    store.append(draft(Action::AccessDenied)).await.unwrap();
    assert_eq!(assert_valid(&store, &tenant()).await, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_may_open_a_new_folder_at_once() {
    let folder = folder();
    let tasks: Vec<_> = (0..8)
        .map(|_| {
            let path = folder.path().to_owned();
            tokio::spawn(async move {
                let store = open(&path).await;
                store.append(draft(Action::AccessDenied)).await.unwrap();
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(assert_valid(&open(folder.path()).await, &tenant()).await, 8);
}

#[tokio::test]
async fn a_linked_database_is_followed() {
    let (folder, elsewhere) = (folder(), folder());
    open(elsewhere.path()).await.close().await;
    std::os::unix::fs::symlink(elsewhere.path().join("belljar.db"), folder.path().join("belljar.db")).unwrap();
    let store = open(folder.path()).await;
    store.append(draft(Action::AccessDenied)).await.unwrap();
    store.close().await;
    assert_eq!(assert_valid(&open(elsewhere.path()).await, &tenant()).await, 1);
}

#[tokio::test]
async fn a_link_that_points_elsewhere_later_is_noticed() {
    let (folder, elsewhere) = (folder(), folder());
    open(elsewhere.path()).await.close().await;
    let link = folder.path().join("belljar.db");
    std::os::unix::fs::symlink(elsewhere.path().join("belljar.db"), &link).unwrap();
    let store = open(folder.path()).await;
    std::fs::remove_file(&link).unwrap();
    std::fs::copy(elsewhere.path().join("belljar.db"), &link).unwrap();
    let error = store.append(draft(Action::AccessDenied)).await.unwrap_err().to_string();
    assert!(error.contains("was replaced while it was open"), "{error}");
}

#[tokio::test]
async fn a_schema_of_a_newer_program_is_refused_by_name() {
    let folder = folder();
    open(folder.path()).await.close().await;
    alter(
        folder.path(),
        "insert into _sqlx_migrations (version, description, success, checksum, execution_time)
         values (99, 'later', true, x'00', 0)",
    )
    .await;
    let error = try_open(folder.path()).await.unwrap_err();
    assert!(matches!(error, OpenError::NewerSchema { found: 99, .. }), "{error}");
    assert!(error.to_string().contains("use a newer belljar"), "{error}");
}

#[tokio::test]
async fn a_migration_with_another_text_is_refused() {
    let folder = folder();
    open(folder.path()).await.close().await;
    alter(folder.path(), "update _sqlx_migrations set checksum = x'00'").await;
    let error = try_open(folder.path()).await.unwrap_err();
    assert!(matches!(error, OpenError::OtherSchema { version: 1, .. }), "{error}");
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused_and_left_alone() {
    let folder = folder();
    let text = "not a database, but long enough that a header could be in it".repeat(100);
    std::fs::write(folder.path().join("belljar.db"), &text).unwrap();
    let error = try_open(folder.path()).await.unwrap_err();
    assert!(matches!(error, OpenError::NotADatabase(_)), "{error}");
    assert_eq!(std::fs::read_to_string(folder.path().join("belljar.db")).unwrap(), text);
}

#[tokio::test]
async fn a_file_in_the_folders_place_is_refused() {
    let folder = folder();
    let path = folder.path().join("state");
    std::fs::write(&path, "").unwrap();
    let error = try_open(&path).await.unwrap_err();
    assert!(matches!(error, OpenError::NotAFolder(_)), "{error}");
}

#[tokio::test]
async fn an_owner_id_that_is_no_file_name_is_refused() {
    let folder = folder();
    for owner in ["", "../x", "a b"] {
        let outcome = Store::open_as(StoreOptions::new(folder.path()), OwnerId::new(owner)).await;
        assert!(matches!(outcome, Err(OpenError::InvalidOwner(_))), "{owner}");
    }
}
