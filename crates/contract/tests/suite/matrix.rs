//! Each defect is found by its own clause, and by no other.

use std::sync::Arc;

use belljar_contract::broken::{BROADLY_BROKEN, BROKEN, Defect, Reference};
use belljar_contract::{Clause, Level, Subject, run};

async fn failed(defect: Defect) -> (Vec<&'static str>, String) {
    let subject = Subject::new(Arc::new(Reference::new(Some(defect))), "sh");
    let outcome = run(&subject, Level::Strict).await;
    assert!(outcome.skipped().is_empty(), "{defect:?}\n{outcome}");
    assert_eq!(outcome.has_passed(), outcome.failed().is_empty());
    (outcome.failed(), outcome.to_string())
}

/// Most of the time all of them sleep, so all run at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn each_broken_executor_fails_exactly_its_own_clause() {
    let narrow = BROKEN.iter().map(|(defect, clause)| (*defect, vec![*clause]));
    let broad = BROADLY_BROKEN.iter().map(|(defect, clauses)| (*defect, clauses.to_vec()));
    let runs: Vec<_> =
        narrow.chain(broad).map(|(defect, wanted)| (defect, wanted, tokio::spawn(failed(defect)))).collect();
    let mut wrong = Vec::new();
    for (defect, mut wanted, run) in runs {
        let (mut found, table) = run.await.unwrap();
        wanted.sort_unstable();
        found.sort_unstable();
        if found != wanted {
            wrong.push(format!("{defect:?} should fail {wanted:?}\n{table}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn every_clause_has_a_broken_executor() {
    for clause in Clause::all() {
        assert!(BROKEN.iter().any(|(_, name)| *name == clause.name()), "{clause:?}");
    }
}
