//! What a script can do to its shepherd, which has the same identity.

use belljar_executor::{Cancel, Ending, ErrorKind, ExecutionRequest, Executor};

use crate::support::{bash, is_running, unique_seconds, wait_until};
use crate::{executor_in, runs_in};

#[tokio::test]
async fn killing_it_is_a_fault_and_what_can_be_told_to_be_of_the_run_is_killed() {
    let (folder, word) = (tempfile::tempdir().unwrap(), unique_seconds());
    let content = format!(
        "setsid sleep {word} & env -i sleep {word} & sleep {word} &\n\
         for p in $(jobs -p); do until grep -q sleep /proc/$p/comm; do :; done; done\n\
         kill -KILL $PPID; sleep {word}"
    );
    let request = ExecutionRequest::new(bash(&content).0);
    let error = executor_in(folder.path()).execute(request, Cancel::new()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::FAULT);
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert!(source.contains("did not end well"), "{source}");
    assert!(!is_running(&word));
    assert_eq!(runs_in(folder.path()), 0);
}

#[tokio::test]
async fn it_does_not_hear_other_signals() {
    let outcome =
        bash("for s in TERM INT HUP QUIT USR1 ALRM PIPE CHLD; do kill -$s $PPID; done; echo done").run().await;
    assert_eq!(outcome.ending(), Ending::Exited { code: 0, signal: None });
    assert_eq!(outcome.stdout().text, "done\n");
}

#[tokio::test]
async fn a_signal_to_the_script_s_own_group_does_not_reach_it() {
    let word = unique_seconds();
    let outcome = bash(&format!("sleep {word} & kill -TERM 0; sleep {word}")).run().await;
    assert_eq!(outcome.ending(), Ending::Exited { code: 143, signal: Some(15) });
    assert!(!is_running(&word));
}

/// It cannot be asked, so the service has to do without.
#[tokio::test]
async fn one_that_is_stopped_again_and_again_is_a_fault_and_nothing_is_left() {
    let (folder, word) = (tempfile::tempdir().unwrap(), unique_seconds());
    let content = format!("setsid sleep {word} & while :; do kill -STOP $PPID; done");
    let request = ExecutionRequest::new(bash(&content).timeout(300).0);
    let executor = executor_in(folder.path());
    match executor.execute(request, Cancel::new()).await {
        Err(error) => assert_eq!(error.kind(), ErrorKind::FAULT),
        // It was woken for long enough.
        Ok(outcome) => assert_eq!(outcome.ending(), Ending::TimedOut),
    }
    wait_until("nothing is left", || !is_running(&word) && runs_in(folder.path()) == 0).await;
}

#[tokio::test]
async fn stopping_it_does_not_hold_up_the_time_out() {
    let word = unique_seconds();
    let outcome = bash(&format!("setsid sleep {word} & kill -STOP $PPID; sleep {word}")).timeout(700).run().await;
    assert_eq!(outcome.ending(), Ending::TimedOut);
    assert!(!is_running(&word));
}

/// The job tells that it began, and its session: nothing is left for its shepherd to say after that.
#[tokio::test(flavor = "multi_thread")]
async fn stopping_it_with_the_first_step_does_not_lose_the_begin() {
    for _ in 0..6 {
        let runs: Vec<_> =
            (0..8).map(|_| tokio::spawn(bash("kill -STOP $PPID; echo begun; sleep 900").timeout(500).run())).collect();
        for run in runs {
            let outcome = run.await.unwrap();
            assert_eq!(outcome.ending(), Ending::TimedOut);
        }
    }
}
