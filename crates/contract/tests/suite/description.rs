//! Subjects, their mistakes, the table and the coverage check.

use std::sync::Arc;

use async_trait::async_trait;
use belljar_contract::{Body, Clause, Coverage, CoverageError, Level, Subject, Verdict, run};
use belljar_executor::{Cancel, Captured, ExecutionRequest, Executor, ExecutorError, Outcome};

use belljar_contract::broken::Reference;

/// An executor for a language of its own: it prints the script's text.
#[derive(Debug)]
struct Printer;

#[async_trait]
impl Executor for Printer {
    fn name(&self) -> &'static str {
        "printer"
    }

    async fn execute(&self, request: ExecutionRequest, _: Cancel) -> Result<Outcome, ExecutorError> {
        assert_eq!(request.parts().script_path.extension().as_deref(), Some("txt"));
        let text = request.parts().content.to_string();
        Ok(Outcome::exited(0, Captured { text, truncated: false }, Captured::default()))
    }
}

fn printer() -> Subject {
    Subject::in_language(Arc::new(Printer), "printer", "txt")
}

async fn verdict(subject: &Subject, clause: &str) -> Verdict {
    Clause::find(clause).unwrap().check(subject).await
}

#[tokio::test]
async fn another_language_brings_its_own_bodies() {
    let subject = printer().body(Body::Content, "approved\n").body(Body::Decoy, "decoy\n");
    assert_eq!(verdict(&subject, "stored_request_runs_its_content").await, Verdict::Pass);
    assert_eq!(verdict(&subject, "empty_script_exits_0").await, Verdict::Pass);
    let text = verdict(&subject, "signal_is_told").await.to_string();
    assert_eq!(text, "expected a script body `Signal`; found none in the subject's description");
}

#[tokio::test]
async fn a_skipped_subject_skips_everything_with_its_reason() {
    let outcome = run(&printer().skip("no printer here"), Level::Strict).await;
    assert!(outcome.has_passed());
    assert_eq!(outcome.skipped().len(), Clause::all().len());
    assert!(outcome.rows().iter().all(|row| row.verdict.to_string() == "no printer here"));
}

#[tokio::test]
async fn a_strict_clause_can_be_declined_and_a_core_clause_cannot() {
    let subject = printer().decline("usage_is_told", "not measured").decline("many_run_at_once", "slow");
    let skipped = Verdict::Skipped { reason: "declined: not measured".into() };
    assert_eq!(verdict(&subject, "usage_is_told").await, skipped);
    assert!(verdict(&subject, "many_run_at_once").await.is_fail());
    assert_eq!(subject.mistakes(), ["declines `many_run_at_once`, which is a core clause"]);
    let subject = printer().decline("no_such_clause", "x").decline("usage_is_told", " ");
    let wanted = ["declines `no_such_clause`, which is no clause", "declines `usage_is_told` without a reason"];
    assert_eq!(subject.mistakes(), wanted);
    let outcome = run(&subject.skip("the mistakes are what counts"), Level::Core).await;
    assert!(!outcome.has_passed() && outcome.failed().is_empty());
}

#[tokio::test]
async fn processes_that_cannot_be_seen_are_a_skip_and_no_pass() {
    let subject = Subject::new(Arc::new(Reference::new(None)), "sh").sight(|_| false);
    let found = verdict(&subject, "daemon_left_behind_is_gone").await;
    assert!(matches!(found, Verdict::Skipped { .. }), "{found:?}");
}

#[tokio::test]
async fn the_table_tells_what_was_expected_and_found() {
    let outcome = run(&printer().body(Body::Echo, "something"), Level::Core).await;
    let table = outcome.to_string();
    assert!(table.starts_with("printer: contract "), "{table}");
    assert!(table.contains("\n  pass  core    empty_script_exits_0\n"), "{table}");
    assert!(table.contains("expected standard output to be \"{\\\"é\\\""), "{table}");
    assert!(table.ends_with("  1 passed, 21 failed, 0 skipped"), "{table}");
}

#[test]
fn coverage_finds_what_is_not_run_and_what_is_stale() {
    let all: Vec<_> = Clause::all().iter().map(Clause::name).collect();
    assert_eq!(Coverage::missing(&all, &[]), Ok(vec![]));
    let most: Vec<_> = all.iter().copied().filter(|name| !["usage_is_told", "cap_is_exact"].contains(name)).collect();
    assert_eq!(Coverage::missing(&most, &[]), Ok(vec!["cap_is_exact", "usage_is_told"]));
    assert_eq!(Coverage::missing(&most, &[("usage_is_told", "not measured")]), Ok(vec!["cap_is_exact"]));
    for (exemption, wanted) in [
        (("gone", "old"), CoverageError::StaleExemption("gone".into())),
        (("many_run_at_once", "slow"), CoverageError::CoreExemption("many_run_at_once".into())),
        (("usage_is_told", ""), CoverageError::NoReason("usage_is_told".into())),
        (("usage_is_told", "not measured"), CoverageError::ExemptedAndRun("usage_is_told".into())),
    ] {
        assert_eq!(Coverage::missing(&all, &[exemption]), Err(wanted));
    }
    assert_eq!(Coverage::missing(&["typo"], &[]), Err(CoverageError::UnknownClause("typo".into())));
}

#[test]
fn names_are_unique_and_core_comes_first() {
    let mut names: Vec<_> = Clause::all().iter().map(Clause::name).collect();
    assert!(Clause::all().is_sorted_by_key(Clause::level));
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
}
