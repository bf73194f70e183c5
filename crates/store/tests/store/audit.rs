use belljar_core::audit::{Action, Head};
use belljar_core::ports::{Audit, StoreError};
use serde_json::json;
use sqlx::Connection;

use crate::world::{assert_valid, draft, draft_of, folder, open, other_tenant, tenant};

#[tokio::test]
async fn the_heads_are_copied_after_each_commit_and_never_go_back() {
    let folder = folder();
    let store = open(folder.path()).await;
    assert!(store.copied_heads().await.unwrap().is_empty());
    store.append(draft(Action::AccessDenied)).await.unwrap();
    store.append(draft_of(&other_tenant(), Action::AccessDenied, &json!({}))).await.unwrap();
    let heads = store.copied_heads().await.unwrap();
    assert_eq!(heads[&tenant()], store.head(&tenant()).await.unwrap());
    assert_eq!(heads.len(), 2);

    let ahead = Head { sequence: 40, ..heads[&tenant()] };
    let document = json!({"version": 1, "heads": {"local": ahead.to_string()}});
    std::fs::write(folder.path().join("audit-heads"), document.to_string()).unwrap();
    store.append(draft(Action::AccessDenied)).await.unwrap();
    assert_eq!(store.copied_heads().await.unwrap()[&tenant()], ahead);
}

#[tokio::test]
async fn a_garbled_copy_is_damage_and_stays_as_it_is_while_entries_go_on() {
    let folder = folder();
    let store = open(folder.path()).await;
    let file = folder.path().join("audit-heads");
    for garbled in ["", "{", "{\"version\":2,\"heads\":{}}", "{\"version\":1,\"heads\":{\"local\":\"1:xyz\"}}"] {
        std::fs::write(&file, garbled).unwrap();
        let before = store.heads_not_copied();
        store.append(draft(Action::AccessDenied)).await.unwrap();
        assert_eq!(store.heads_not_copied(), before + 1);
        assert!(matches!(store.copied_heads().await, Err(StoreError::Damaged(_))), "{garbled}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), garbled);
    }
    std::fs::remove_file(&file).unwrap();
    store.append(draft(Action::AccessDenied)).await.unwrap();
    assert_eq!(assert_valid(&store, &tenant()).await, 5);
    assert_eq!(store.copied_heads().await.unwrap()[&tenant()].sequence, 5);
}

#[tokio::test]
async fn the_table_refuses_whatever_is_not_the_next_entry() {
    let folder = folder();
    let store = open(folder.path()).await;
    store.append(draft(Action::AccessDenied)).await.unwrap();
    store.append(draft(Action::AccessDenied)).await.unwrap();
    let path = folder.path().join("belljar.db");
    let mut connection = sqlx::SqliteConnection::connect(path.to_str().unwrap()).await.unwrap();
    let row = "select tenant, 2, 'new', actor, action, entity, before, after, created_at, previous_hash, hash
               from audit where sequence = 1";
    for sql in [
        "update audit set actor = 'eve'".to_owned(),
        "delete from audit".to_owned(),
        format!("insert or replace into audit {row}"),
        format!("insert or replace into audit {}", row.replace("2, 'new'", "4, 'new'")),
        format!("insert or replace into audit {}", row.replace("2, 'new'", "3, id")),
        format!("insert into audit {}", row.replace("2, 'new'", "3, null")),
    ] {
        let outcome = sqlx::query(sqlx::AssertSqlSafe(sql.clone())).execute(&mut connection).await;
        assert!(outcome.is_err(), "{sql}");
    }
    assert_eq!(assert_valid(&store, &tenant()).await, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn appends_that_wait_together_share_a_commit() {
    let folder = folder();
    let store = open(folder.path()).await;
    let tasks: Vec<_> = (0..200)
        .map(|_| {
            let store = store.clone();
            tokio::spawn(async move { store.append(draft(Action::AccessDenied)).await.unwrap().sequence })
        })
        .collect();
    let mut sequences = Vec::new();
    for task in tasks {
        sequences.push(task.await.unwrap());
    }
    sequences.sort_unstable();
    assert_eq!(sequences, (1..=200).collect::<Vec<_>>());
    assert!(store.commits() < 200, "{} commits", store.commits());
    assert_eq!(assert_valid(&store, &tenant()).await, 200);
}

#[tokio::test]
async fn a_change_that_fails_is_taken_back_alone() {
    let folder = folder();
    let store = open(folder.path()).await;
    let twice = draft(Action::AccessDenied);
    let (first, second, third) = tokio::join!(
        store.append(twice.clone()),
        store.append(twice.clone()),
        store.append(draft(Action::AccessDenied)),
    );
    assert_eq!((first.unwrap().sequence, third.unwrap().sequence), (1, 2));
    assert!(second.is_err());
    assert_eq!(assert_valid(&store, &tenant()).await, 2);
}

#[tokio::test]
async fn a_closed_store_refuses() {
    let folder = folder();
    let store = open(folder.path()).await;
    let clone = store.clone();
    store.append(draft(Action::AccessDenied)).await.unwrap();
    store.close().await;
    assert!(clone.append(draft(Action::AccessDenied)).await.is_err());
    assert!(clone.head(&tenant()).await.is_err());
    assert!(!folder.path().join("belljar.db-wal").exists());
}
