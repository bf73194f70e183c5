//! The isolation report.

use belljar_executor::{Cause, Control, Executor, Requirement, State};
use belljar_executors::{Bubblewrap, BubblewrapOptions};

use crate::support::{bash, executor};

#[tokio::test]
async fn every_control_is_found_as_the_specification_wants_it() {
    let report = executor().probe().await.unwrap();
    assert!(report.driver.as_deref().unwrap().starts_with("bubblewrap "), "{:?}", report.driver);
    assert_eq!(report.controls.len(), Control::ALL.len());
    let shortfalls = Requirement::default().shortfalls(&report);
    assert!(shortfalls.is_empty(), "{shortfalls:#?}");
    for control in [Control::Memory, Control::Tasks, Control::Cpu] {
        assert_eq!(report.state(control), State::Weaker, "{control}");
    }
}

#[tokio::test]
async fn an_outcome_carries_the_report() {
    let outcome = bash("exit 0").run().await;
    assert_eq!(outcome.isolation().unwrap().controls.len(), Control::ALL.len());
}

#[tokio::test]
async fn without_the_program_nothing_runs_and_the_remedy_is_told() {
    let mut options = BubblewrapOptions::default();
    options.program = Some("/nonexistent/bwrap".into());
    let executor = Bubblewrap::new(options);
    let unavailable = executor.probe().await.unwrap_err();
    assert_eq!(unavailable.cause, Cause::MissingProgram);
    assert!(unavailable.remedy.contains("apt-get install bubblewrap"));
    let request = belljar_executor::ExecutionRequest::new(bash("exit 0").0);
    let error = executor.execute(request, belljar_executor::Cancel::new()).await.unwrap_err();
    assert_eq!(error.kind(), belljar_executor::ErrorKind::UNAVAILABLE);
}

#[tokio::test]
async fn a_launcher_that_fails_is_never_a_result_of_the_script() {
    let mut options = BubblewrapOptions::default();
    options.program = Some("/bin/false".into());
    let unavailable = Bubblewrap::new(options).probe().await.unwrap_err();
    assert!(unavailable.message.contains("bwrap ended"), "{unavailable:?}");
}
