//! What the world does to an open store's files.

use std::fs;
use std::path::Path;

use belljar_core::audit::Action;
use belljar_core::ports::{Audit, Pauses};
use belljar_store::Store;
use sqlx::Connection;

use crate::world::{assert_valid, draft, folder, open, open_impatient, tenant};

async fn refusal(store: &Store) -> String {
    store.append(draft(Action::AccessDenied)).await.unwrap_err().to_string()
}

/// It refuses with these words, stays refusing, and reads are refused too.
async fn assert_refuses(store: &Store, words: &str) {
    for _ in 0..2 {
        let refusal = refusal(store).await;
        assert!(refusal.contains(words), "{refusal}");
    }
    assert!(store.head(&tenant()).await.is_err());
    assert!(store.is_paused(&tenant()).await.is_err());
}

#[tokio::test]
async fn a_lock_held_longer_than_the_busy_time_out_refuses_and_leaves_nothing() {
    let folder = folder();
    let store = open_impatient(folder.path()).await;
    let path = folder.path().join("belljar.db");
    let mut other = sqlx::SqliteConnection::connect(path.to_str().unwrap()).await.unwrap();
    sqlx::query("begin immediate").execute(&mut other).await.unwrap();
    let refused = refusal(&store).await;
    assert!(refused.contains("locked for longer than the busy time-out"), "{refused}");
    assert_eq!(store.head(&tenant()).await.unwrap().sequence, 0, "reading goes on");
    sqlx::query("commit").execute(&mut other).await.unwrap();
    store.append(draft(Action::AccessDenied)).await.unwrap();
    assert_eq!(assert_valid(&store, &tenant()).await, 1);
}

#[tokio::test]
async fn a_database_deleted_while_open_is_refused_for_good() {
    let folder = folder();
    let store = open(folder.path()).await;
    store.append(draft(Action::AccessDenied)).await.unwrap();
    let (path, kept) = (folder.path().join("belljar.db"), folder.path().join("kept"));
    fs::hard_link(&path, &kept).unwrap();
    fs::remove_file(&path).unwrap();
    assert_refuses(&store, "belljar.db was deleted while it was open").await;
    fs::hard_link(&kept, &path).unwrap();
    assert_refuses(&store, "belljar.db was deleted while it was open").await;
    store.close().await;
    fs::remove_file(&kept).unwrap();
    assert_eq!(assert_valid(&open(folder.path()).await, &tenant()).await, 1);
}

#[tokio::test]
async fn a_database_replaced_while_open_is_refused() {
    let folder = folder();
    let store = open(folder.path()).await;
    store.append(draft(Action::AccessDenied)).await.unwrap();
    replace(&folder.path().join("belljar.db"));
    assert_refuses(&store, "belljar.db was replaced while it was open").await;
}

#[tokio::test]
async fn a_log_deleted_while_open_is_refused() {
    let folder = folder();
    let store = open(folder.path()).await;
    fs::remove_file(folder.path().join("belljar.db-wal")).unwrap();
    assert_refuses(&store, "belljar.db-wal was deleted while it was open").await;
}

#[tokio::test]
async fn a_log_replaced_while_open_is_refused() {
    let folder = folder();
    let store = open(folder.path()).await;
    replace(&folder.path().join("belljar.db-wal"));
    assert_refuses(&store, "belljar.db-wal was replaced while it was open").await;
}

#[tokio::test]
async fn a_reader_notices_too() {
    let folder = folder();
    let store = open(folder.path()).await;
    store.head(&tenant()).await.unwrap();
    fs::remove_file(folder.path().join("belljar.db")).unwrap();
    assert!(store.head(&tenant()).await.is_err());
}

fn replace(path: &Path) {
    let copy = path.with_extension("copy");
    fs::copy(path, &copy).unwrap();
    fs::rename(&copy, path).unwrap();
}

#[tokio::test]
async fn an_index_of_the_log_that_was_deleted_while_open_is_refused() {
    let folder = folder();
    let store = open(folder.path()).await;
    fs::remove_file(folder.path().join("belljar.db-shm")).unwrap();
    assert_refuses(&store, "belljar.db-shm was deleted while it was open").await;
}

#[tokio::test]
async fn without_its_owner_file_a_process_writes_nothing_more() {
    let folder = folder();
    let store = open(folder.path()).await;
    store.append(draft(Action::AccessDenied)).await.unwrap();
    for entry in fs::read_dir(folder.path().join("owners")).unwrap() {
        fs::remove_file(entry.unwrap().path()).unwrap();
    }
    assert_refuses(&store, ".lock was deleted while it was open").await;
}
