//! However a run ends, no process of it is left, though nothing holds it.

use std::process::Stdio;

use belljar_executor::{Cancel, Ending, ErrorKind, ExecutionRequest, Executor};

use crate::support::{bash, is_running, itself, nothing_accumulates, python, unique_seconds, wait_until};
use crate::{executor_in, runs_in, skip};

const EXITED_0: Ending = Ending::Exited { code: 0, signal: None };

/// Forks twice, leaves the session, closes everything and becomes a sleep.
const DAEMON: &str = "import os, sys\nif os.fork() == 0:\n    os.setsid()\n    if os.fork():\n        os._exit(0)\n    \
    os.closerange(0, 100)\n    os.execv('/usr/bin/sleep', ['sleep', sys.argv[1]])\nos.wait()";

#[tokio::test]
async fn children_of_every_kind_end_with_the_run() {
    for start in [
        "sleep WORD &",
        "setsid sleep WORD &",
        "(setsid sh -c 'setsid sleep WORD & sleep WORD' &)",
        "nohup sleep WORD >/dev/null 2>&1 &",
        "(trap '' TERM HUP INT; exec sleep WORD) & disown",
        "sleep WORD & kill -STOP $!",
        "env -i setsid sleep WORD </dev/null >/dev/null 2>&1 &",
    ] {
        let word = unique_seconds();
        let outcome = bash(&format!("{}\necho done", start.replace("WORD", &word))).run().await;
        assert_eq!((outcome.ending(), outcome.stdout().text.as_str()), (EXITED_0, "done\n"), "{start}");
        assert!(!is_running(&word), "{start}");
    }
}

#[tokio::test]
async fn a_daemon_ends_with_the_run() {
    let word = unique_seconds();
    let mut daemon = python(DAEMON);
    daemon.0.argv = vec![word.clone()];
    assert_eq!(daemon.run().await.ending(), EXITED_0);
    assert!(!is_running(&word));
}

#[tokio::test]
async fn orphans_of_a_subreaper_of_its_own_end_too() {
    let word = unique_seconds();
    let content = "import ctypes, os, sys, time\nctypes.CDLL(None).prctl(36, 1, 0, 0, 0)\nfor _ in range(3):\n    \
        if os.fork() == 0:\n        os.setsid()\n        if os.fork(): os._exit(0)\n        time.sleep(300)\n\
        if os.fork() == 0: time.sleep(300)\n";
    let mut script = python(content);
    script.0.argv = vec![word.clone()];
    assert_eq!(script.run().await.ending(), EXITED_0);
    assert!(!is_running(&word));
}

/// Forty chains that begin when the script ends: each process starts its successor and is gone, so that none
/// of them is there for long. Should the executor fail, they end by themselves.
#[tokio::test]
async fn forty_processes_that_never_stand_still_end_with_the_run() {
    let word = unique_seconds();
    let content = "import os, time\nlast = time.monotonic() + 20\nwait, go = os.pipe()\nfor _ in range(40):\n    if os.fork() == 0:\n        os.setsid()\n        \
        os.close(go)\n        os.read(wait, 1)\n        while time.monotonic() < last:\n            if os.fork(): os._exit(0)\nprint('begun')";
    let mut storm = python(content);
    storm.0.argv = vec![word.clone()];
    let outcome = storm.run().await;
    assert_eq!((outcome.ending(), outcome.stdout().text.as_str()), (EXITED_0, "begun\n"));
    assert!(!is_running(&word));
}

/// Every process starts others as fast as it can, up to a limit that makes room for a new one whenever one
/// is killed. Root has no such limit.
#[tokio::test]
async fn a_bomb_at_its_limit_ends_with_the_run() {
    if rustix::process::geteuid().is_root() {
        skip("only the kernel's limit for an ordinary user bounds a bomb");
        return;
    }
    let word = unique_seconds();
    let content = "import os, resource, time\nlast = time.monotonic() + 20\nresource.setrlimit(resource.RLIMIT_NPROC, (150, 150))\n\
        if os.fork() == 0:\n    while time.monotonic() < last:\n        try: os.fork()\n        except OSError: pass\n";
    let mut bomb = python(content);
    bomb.0.argv = vec![word.clone()];
    assert_eq!(bomb.run().await.ending(), EXITED_0);
    assert!(!is_running(&word));
}

#[tokio::test]
async fn a_time_out_keeps_the_output_and_ends_the_tree() {
    let word = unique_seconds();
    let content = format!("setsid sleep {word} & echo output; echo problem >&2; trap '' TERM; sleep {word}");
    let outcome = bash(&content).timeout(700).cap(3).run().await;
    assert_eq!(outcome.ending(), Ending::TimedOut);
    assert_eq!((outcome.stdout().text.as_str(), outcome.stderr().text.as_str()), ("out", "pro"));
    assert!(outcome.stdout().truncated && outcome.usage().is_some(), "{outcome:?}");
    assert!(!is_running(&word));
}

#[tokio::test]
async fn no_limit_is_said_to_be_hit() {
    let outcome = bash("kill -KILL $$").run().await;
    assert_eq!(outcome.ending(), Ending::Exited { code: 137, signal: Some(9) });
    assert!(outcome.limits_hit().is_empty());
    assert_eq!(outcome.usage().unwrap().source, "rusage");
}

#[tokio::test]
async fn a_cancelled_run_is_gone_when_it_answers() {
    let (folder, word, cancel) = (tempfile::tempdir().unwrap(), unique_seconds(), Cancel::new());
    let executor = executor_in(folder.path());
    let request = ExecutionRequest::new(bash(&format!("setsid sleep {word} & sleep {word}")).0);
    let fire = async {
        wait_until("the script runs", || is_running(&word)).await;
        cancel.fire();
    };
    let (answer, ()) = tokio::join!(executor.execute(request, cancel.clone()), fire);
    assert_eq!(answer.unwrap_err().kind(), ErrorKind::CANCELLED);
    assert!(!is_running(&word));
    assert_eq!(runs_in(folder.path()), 0);
}

#[tokio::test]
async fn a_dropped_run_ends_and_its_folder_goes() {
    let (folder, word) = (tempfile::tempdir().unwrap(), unique_seconds());
    let executor = executor_in(folder.path());
    let request = ExecutionRequest::new(bash(&format!("setsid sleep {word} & sleep {word}")).0);
    let run = tokio::spawn(async move { executor.execute(request, Cancel::new()).await });
    wait_until("the script runs", || is_running(&word)).await;
    run.abort();
    assert!(run.await.unwrap_err().is_cancelled());
    wait_until("nothing is left", || !is_running(&word) && runs_in(folder.path()) == 0).await;
}

#[tokio::test]
async fn a_run_dropped_while_it_is_set_up_leaves_nothing() {
    let (folder, word) = (tempfile::tempdir().unwrap(), unique_seconds());
    let executor = executor_in(folder.path());
    for step in 0..40 {
        let request = ExecutionRequest::new(bash(&format!("sleep {word}")).0);
        let run = executor.execute(request, Cancel::new());
        let _ = tokio::time::timeout(std::time::Duration::from_micros(300 * step), run).await;
    }
    wait_until("nothing is left", || !is_running(&word) && runs_in(folder.path()) == 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn descriptors_and_threads_return_to_where_they_were() {
    nothing_accumulates("endings::descriptors_and_threads_return_to_where_they_were").await;
}

/// The service dies, once with a shepherd that the script has stopped.
#[tokio::test]
async fn nothing_survives_a_killed_service() {
    const NAME: &str = "endings::nothing_survives_a_killed_service";

    if let Some(word) = std::env::var_os("BELLJAR_TEST_VICTIM") {
        let folder = std::env::var_os("BELLJAR_TEST_FOLDER").unwrap();
        let content = word.into_string().unwrap();
        let _ = executor_in(folder.as_ref()).execute(ExecutionRequest::new(bash(&content).0), Cancel::new()).await;
        return;
    }
    for before in ["", "kill -STOP $PPID;"] {
        let (folder, word) = (tempfile::tempdir().unwrap(), unique_seconds());
        let content = format!("{before} setsid sleep {word} & trap '' HUP TERM; sleep {word}; sleep {word}");
        let mut service = itself(NAME);
        let service = service.env("BELLJAR_TEST_VICTIM", &content).env("BELLJAR_TEST_FOLDER", folder.path());
        let mut service = service.stdout(Stdio::null()).spawn().unwrap();
        let script_runs = || is_running(&format!("sleep\0{word}"));
        wait_until("the script runs", script_runs).await;
        service.kill().unwrap();
        service.wait().unwrap();
        wait_until("nothing is left", || !script_runs() && runs_in(folder.path()) == 0).await;
    }
}

/// The main process had ended; what took until after the deadline was to end what it left.
#[tokio::test]
async fn an_exit_before_the_deadline_is_told_though_the_end_of_all_took_longer() {
    let outcome = bash("kill -STOP $PPID; exit 3").timeout(700).run().await;
    assert_eq!(outcome.ending(), Ending::Exited { code: 3, signal: None });
}
