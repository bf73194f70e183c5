use belljar_core::audit::Action;
use belljar_core::execution::{ExecutionRecord, Status};
use belljar_core::ids::OwnerId;
use belljar_core::ports::Executions;
use belljar_store::{OpenError, Store, StoreOptions};

use crate::world::{about, assert_valid, folder, open, open_as, record, tenant};

async fn open_run(store: &Store) -> ExecutionRecord {
    let run = record(store);
    store.open(run.clone(), about(&run, Action::ScriptRun)).await.unwrap();
    run
}

async fn orphans(store: &Store) -> Vec<String> {
    store.orphans().await.unwrap().into_iter().map(|run| run.execution_id.to_string()).collect()
}

#[tokio::test]
async fn orphans_are_the_open_runs_of_the_dead_only() {
    let folder = folder();
    let (dead, alive) = (open(folder.path()).await, open(folder.path()).await);
    let (lost, kept) = (open_run(&dead).await, open_run(&alive).await);
    let mine = open(folder.path()).await;
    open_run(&mine).await;
    assert!(orphans(&mine).await.is_empty(), "all are alive");

    let clone = dead.clone();
    drop(dead);
    assert!(orphans(&mine).await.is_empty(), "a clone lives");
    drop(clone);
    // The writer task holds no owner lock, so the death shows at once.
    assert_eq!(orphans(&mine).await, [lost.execution_id.to_string()]);

    let ended = ExecutionRecord { status: Status::Lost, ..lost.clone() };
    assert!(Executions::close(&mine, ended, about(&lost, Action::ScriptOutcome)).await.unwrap());
    assert!(orphans(&mine).await.is_empty());
    let ended = ExecutionRecord { status: Status::Success, ..kept.clone() };
    assert!(Executions::close(&alive, ended, about(&kept, Action::ScriptOutcome)).await.unwrap());
    assert_eq!(assert_valid(&mine, &tenant()).await, 5);
}

#[tokio::test]
async fn an_owner_without_a_file_is_dead() {
    let folder = folder();
    let store = open_as(folder.path(), "gone").await;
    let run = open_run(&store).await;
    store.close().await;
    std::fs::remove_file(folder.path().join("owners/gone.lock")).unwrap();
    assert_eq!(orphans(&open(folder.path()).await).await, [run.execution_id.to_string()]);
}

#[tokio::test]
async fn a_start_removes_the_files_of_dead_owners_without_open_runs() {
    let folder = folder();
    let exists = |owner: &str| folder.path().join("owners").join(format!("{owner}.lock")).exists();
    let alive = open_as(folder.path(), "alive").await;
    open_as(folder.path(), "idle").await.close().await;
    let busy = open_as(folder.path(), "busy").await;
    open_run(&busy).await;
    busy.close().await;
    let store = open(folder.path()).await;
    assert_eq!([exists("alive"), exists("idle"), exists("busy")], [true, false, true]);
    assert_eq!(orphans(&store).await.len(), 1);
    drop(alive);
}

#[tokio::test]
async fn an_owner_id_is_of_one_living_process() {
    let folder = folder();
    let store = open_as(folder.path(), "same").await;
    let second = Store::open_as(StoreOptions::new(folder.path()), OwnerId::new("same")).await;
    assert!(matches!(second, Err(OpenError::OwnerTaken(_))));
    store.close().await;
    open_as(folder.path(), "same").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sweep_never_takes_a_living_owners_lock_away() {
    let folder = folder();
    for _ in 0..5 {
        let tasks: Vec<_> = (0..8)
            .map(|_| {
                let path = folder.path().to_owned();
                tokio::spawn(async move { open(&path).await })
            })
            .collect();
        let mut stores = Vec::new();
        for task in tasks {
            stores.push(task.await.unwrap());
        }
        for store in &stores {
            assert!(folder.path().join(format!("owners/{}.lock", store.owner())).exists());
        }
    }
}
