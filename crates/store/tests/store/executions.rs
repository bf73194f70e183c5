use belljar_core::audit::Action;
use belljar_core::execution::{ExecutionRecord, Status};
use belljar_core::ports::Executions;
use serde_json::{Value, json};

use crate::world::{about, assert_valid, at, folder, open, other_tenant, record, tenant, trail};

#[tokio::test]
async fn a_run_is_opened_with_its_receipt_and_closed_once() {
    let folder = folder();
    let store = open(folder.path()).await;
    let run = record(&store);
    let receipt = store.open(run.clone(), about(&run, Action::ScriptRun)).await.unwrap().receipt().unwrap();
    let opened = ExecutionRecord { receipt: Some(receipt.clone()), ..run.clone() };
    assert_eq!(store.get(&tenant(), &run.execution_id).await.unwrap(), Some(opened));
    assert_eq!(store.get(&other_tenant(), &run.execution_id).await.unwrap(), None);
    assert!(store.orphans().await.unwrap().is_empty(), "its own runs are no orphans");

    let ended = ExecutionRecord {
        status: Status::Success,
        exit_code: Some(0),
        stdout: "a\u{0}b\n".to_owned(),
        stderr: "\u{0}".to_owned(),
        finished_at: Some(at(50)),
        ..run.clone()
    };
    assert!(Executions::close(&store, ended.clone(), about(&run, Action::ScriptOutcome)).await.unwrap());
    let lost = ExecutionRecord { status: Status::Lost, ..run.clone() };
    assert!(!Executions::close(&store, lost, about(&run, Action::ScriptOutcome)).await.unwrap());
    let kept = store.get(&tenant(), &run.execution_id).await.unwrap().unwrap();
    assert_eq!(kept, ExecutionRecord { receipt: Some(receipt), ..ended });
    assert_eq!(assert_valid(&store, &tenant()).await, 2);
}

#[tokio::test]
async fn an_unknown_run_is_not_closed() {
    let folder = folder();
    let store = open(folder.path()).await;
    let run = record(&store);
    assert!(!Executions::close(&store, run.clone(), about(&run, Action::ScriptOutcome)).await.unwrap());
    assert!(trail(&store, &tenant()).await.is_empty());
}

#[tokio::test]
async fn the_same_run_is_opened_once_and_the_second_entry_is_taken_back() {
    let folder = folder();
    let store = open(folder.path()).await;
    let run = record(&store);
    store.open(run.clone(), about(&run, Action::ScriptRun)).await.unwrap();
    assert!(store.open(run.clone(), about(&run, Action::ScriptRun)).await.is_err());
    assert_eq!(assert_valid(&store, &tenant()).await, 1);
}

#[tokio::test]
async fn records_are_listed_newest_first() {
    let folder = folder();
    let store = open(folder.path()).await;
    let mut ids = Vec::new();
    for age in [2, 1, 3] {
        let run = ExecutionRecord { created_at: at(age), ..record(&store) };
        store.open(run.clone(), about(&run, Action::ScriptRun)).await.unwrap();
        ids.push(run.execution_id);
    }
    let listed: Vec<_> = store.list(&tenant(), 2).await.unwrap().into_iter().map(|run| run.execution_id).collect();
    assert_eq!(listed, [ids[2].clone(), ids[0].clone()]);
    assert!(store.list(&other_tenant(), 2).await.unwrap().is_empty());
}

#[tokio::test]
async fn arguments_nested_deeper_than_a_reader_usually_goes_come_back() {
    let folder = folder();
    let store = open(folder.path()).await;
    let deep = (0..300).fold(json!(1.5), |inner, _| Value::Array(vec![inner]));
    let run = ExecutionRecord { arguments: Some(deep.clone()), ..record(&store) };
    store.open(run.clone(), about(&run, Action::ScriptRun)).await.unwrap();
    let kept = store.get(&tenant(), &run.execution_id).await.unwrap().unwrap();
    assert_eq!(kept.arguments, Some(deep));
}
