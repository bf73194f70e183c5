//! The isolation report.

use belljar_executor::{Cancel, Control, ErrorKind, ExecutionRequest, Executor, Requirement, State};

use crate::executor_in;
use crate::support::{bash, executor};

#[tokio::test]
async fn every_control_is_missing_and_says_so() {
    let report = executor().probe().await.unwrap();
    assert_eq!(report.in_state(State::Missing).len(), Control::ALL.len());
    assert!(report.controls.values().all(|finding| !finding.detail.is_empty()));
    assert_eq!(report.driver, Some(format!("local {}", env!("CARGO_PKG_VERSION"))));
    let runtimes = report.runtimes.clone().unwrap();
    assert!(runtimes.keys().any(|name| name.as_str() == "sh"), "{runtimes:?}");
    // It is never taken for a sandbox.
    assert!(!Requirement::default().shortfalls(&report).is_empty());
}

#[tokio::test]
async fn every_outcome_carries_the_report() {
    let outcome = bash("exit 0").run().await;
    assert_eq!(outcome.isolation(), Some(&executor().probe().await.unwrap()));
}

#[tokio::test]
async fn without_a_folder_nothing_runs_and_the_remedy_is_told() {
    let executor = executor_in("/nonexistent/folder".as_ref());
    let unavailable = executor.probe().await.unwrap_err();
    assert!(unavailable.remedy.contains("/nonexistent/folder"), "{unavailable:?}");
    let error = executor.execute(ExecutionRequest::new(bash("exit 0").0), Cancel::new()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UNAVAILABLE);
}
