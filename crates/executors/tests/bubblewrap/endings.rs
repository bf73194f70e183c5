//! However a run ends, nothing of it is left.

use std::process::Stdio;
use std::time::Duration;

use belljar_executor::{Cancel, Ending, ErrorKind, LimitHit};
use tokio::time::Instant;

use crate::support::{bash, is_running, itself, nothing_accumulates, python, unique_seconds, wait_until};

const EXITED_0: Ending = Ending::Exited { code: 0, signal: None };

#[tokio::test]
async fn a_time_out_keeps_the_output_and_kills_the_tree() {
    let word = unique_seconds();
    let begun = Instant::now();
    let outcome = bash(&format!("sleep {word} & echo out; echo err >&2; sleep {word}")).timeout(500).run().await;
    assert!(begun.elapsed() < Duration::from_millis(1400), "{:?}", begun.elapsed());
    assert_eq!(outcome.ending(), Ending::TimedOut);
    assert_eq!((outcome.stdout().text.as_str(), outcome.stderr().text.as_str()), ("out\n", "err\n"));
    assert!(outcome.usage().is_some());
    assert!(!is_running(&word));
}

#[tokio::test]
async fn a_script_that_stops_itself_or_ignores_signals_still_times_out() {
    for content in
        ["kill -STOP $$; sleep 30", "trap '' TERM INT HUP; while :; do sleep 30; done", "kill -STOP -1; sleep 30"]
    {
        let outcome = bash(content).timeout(400).run().await;
        assert_eq!(outcome.ending(), Ending::TimedOut, "{content}");
    }
}

#[tokio::test]
async fn an_exit_that_is_an_answer_to_the_deadline_is_still_a_time_out() {
    let outcome = python("import signal, sys, time\nsignal.signal(15, lambda *_: sys.exit(0))\ntime.sleep(30)")
        .timeout(300)
        .run()
        .await;
    assert_eq!(outcome.ending(), Ending::TimedOut);
}

#[tokio::test]
async fn a_cancelled_run_is_gone_when_its_future_is_ready() {
    let word = unique_seconds();
    let cancel = Cancel::new();
    let run = tokio::spawn(bash(&format!("setsid sleep {word} & sleep {word}")).execute(cancel.clone()));
    wait_until("the script runs", || is_running(&word)).await;
    cancel.fire();
    assert_eq!(run.await.unwrap().unwrap_err().kind(), ErrorKind::CANCELLED);
    assert!(!is_running(&word));
    let error = bash("echo never").execute(cancel).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::CANCELLED);
}

#[tokio::test]
async fn a_dropped_run_is_killed_at_once() {
    let word = unique_seconds();
    let run = tokio::spawn(bash(&format!("setsid sleep {word} & sleep {word}")).execute(Cancel::new()));
    wait_until("the script runs", || is_running(&word)).await;
    run.abort();
    assert!(run.await.unwrap_err().is_cancelled());
    wait_until("nothing is left", || !is_running(&word)).await;
}

#[tokio::test]
async fn a_run_dropped_while_it_is_set_up_leaves_nothing() {
    let word = unique_seconds();
    for step in 0..40 {
        let run = bash(&format!("sleep {word}")).execute(Cancel::new());
        let _ = tokio::time::timeout(Duration::from_micros(400 * step), run).await;
    }
    wait_until("nothing is left", || !is_running(&word) && !is_running("bwrap")).await;
}

#[tokio::test]
async fn children_left_behind_end_with_the_run_and_do_not_stall_it() {
    for start in
        ["sleep WORD &", "setsid sleep WORD &", "(sleep WORD & disown) &", "nohup sleep WORD >/dev/null 2>&1 &"]
    {
        let word = unique_seconds();
        let begun = Instant::now();
        let outcome = bash(&format!("{}\necho done", start.replace("WORD", &word))).run().await;
        assert_eq!(outcome.ending(), EXITED_0);
        assert!(outcome.stdout().text.ends_with("done\n"));
        assert!(begun.elapsed() < Duration::from_secs(2), "{start}: {:?}", begun.elapsed());
        assert!(!is_running(&word), "{start}");
    }
}

#[tokio::test]
async fn a_daemon_that_forks_twice_and_closes_everything_ends_with_the_run() {
    let word = unique_seconds();
    let content = format!(
        "import os\nif os.fork() == 0:\n    os.setsid()\n    if os.fork():\n        os._exit(0)\n    os.closerange(0, 100)\n    os.execv('/usr/bin/sleep', ['sleep', '{word}'])\nos.wait()"
    );
    assert_eq!(python(&content).run().await.ending(), EXITED_0);
    assert!(!is_running(&word));
}

#[tokio::test]
async fn a_full_folder_is_named_when_the_script_failed() {
    for (content, hit) in [
        ("head -c 200M /dev/zero > /tmp/x; exit 3", vec![LimitHit::Disk]),
        ("head -c 200M /dev/zero > /tmp/x; exit 0", vec![]),
        ("for i in $(seq 5000); do : > /workspace/$i || exit 4; done", vec![LimitHit::Disk]),
        ("exit 3", vec![]),
    ] {
        assert_eq!(bash(content).run().await.limits_hit(), hit, "{content}");
    }
}

#[tokio::test]
async fn memory_of_the_whole_run_is_sampled_and_the_limit_is_named() {
    // Each of them is below the limit of a process; together, or in shared memory, they are above it.
    let children = "import os, time\nfor _ in range(4):\n    if os.fork() == 0:\n        b = bytearray(b'x' * (200 << 20)); time.sleep(30)\ntime.sleep(30)";
    let shared = "import mmap, os\nm = mmap.mmap(-1, 700 << 20)\n\
        for i in range(0, 700 << 20, 1 << 20): m[i:i + (1 << 20)] = b'z' * (1 << 20)\nos.kill(os.getpid(), 19)";
    for content in [children, shared] {
        let outcome = python(content).run().await;
        assert_eq!(outcome.ending(), Ending::Exited { code: 128 + 9, signal: Some(9) });
        assert_eq!(outcome.limits_hit(), [LimitHit::Memory]);
    }
    // Shared between many processes, it counts once.
    let honest = "import os, time\nb = bytearray(b'x' * (100 << 20))\nfor _ in range(10):\n    if os.fork() == 0:\n        time.sleep(1); os._exit(0)\ntime.sleep(0.5)\nprint('ok')";
    let outcome = python(honest).run().await;
    assert_eq!((outcome.stdout().text.as_str(), outcome.limits_hit()), ("ok\n", &[][..]));
}

#[tokio::test]
async fn memory_behind_a_first_thread_that_has_ended_is_seen() {
    let hidden = "import ctypes, os, threading, time\n\
        def hold():\n    time.sleep(0.3); b = bytearray(b'x' * (200 << 20)); time.sleep(20)\n\
        for _ in range(4):\n    if os.fork() == 0:\n        threading.Thread(target=hold).start()\n        \
        ctypes.CDLL(None).syscall(60 if os.uname().machine == 'x86_64' else 93, 0)\n\
        time.sleep(20)";
    let outcome = python(hidden).run().await;
    assert_eq!(outcome.limits_hit(), [LimitHit::Memory], "{outcome:?}");
}

#[tokio::test]
async fn a_mapped_file_counts_once() {
    let honest = "import mmap, os, time\nf = open('/workspace/f', 'wb+'); f.truncate(120 << 20)\nm = mmap.mmap(f.fileno(), 120 << 20)\n\
        for i in range(0, 120 << 20, 1 << 20): m[i:i + (1 << 20)] = b'z' * (1 << 20)\n\
        b = bytearray(300 << 20)\n\
        for i in range(0, len(b), 4096): b[i] = 1\ntime.sleep(0.6); print('ok')";
    let outcome = python(honest).run().await;
    assert_eq!((outcome.stdout().text.as_str(), outcome.limits_hit()), ("ok\n", &[][..]), "{outcome:?}");
}

/// Pid 1 has the script's own uid: whatever the kernel lets one process do to another of its uid, a script
/// must not do to it, and a run that tries says nothing about the host.
#[tokio::test]
async fn pid_1_is_out_of_reach_of_limits_and_priorities() {
    let attempts = "import os, resource\n\
        def attempt(what, call):\n    try:\n        call(); print('BREACH', what)\n    except OSError: pass\n\
        for limit in ('NOFILE', 'CPU', 'DATA', 'AS', 'NPROC', 'FSIZE'):\n    \
        attempt(limit, lambda: resource.prlimit(1, getattr(resource, 'RLIMIT_' + limit), (0, 0)))\n\
        attempt('scheduler', lambda: os.sched_setscheduler(1, os.SCHED_IDLE, os.sched_param(0)))\n\
        attempt('affinity', lambda: os.sched_setaffinity(1, {0}))\n\
        attempt('priority', lambda: os.setpriority(os.PRIO_PROCESS, 1, 19))\n\
        attempt('group priority', lambda: os.setpriority(os.PRIO_PGRP, 1, 19))\n\
        attempt('user priority', lambda: os.setpriority(os.PRIO_USER, 0, 19))\n\
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0)); os.nice(1); os.sched_setaffinity(0, {0}); print('DONE')";
    let outcome = python(attempts).run().await;
    assert_eq!(outcome.stdout().text, "DONE\n", "{outcome:?}");
}

#[tokio::test]
async fn a_process_that_uses_more_cores_than_it_has_is_named() {
    let content = "import hashlib, threading\nb = bytes(1 << 20)\ndef f():\n    while True: hashlib.sha256(b)\n\
        for _ in range(4): threading.Thread(target=f).start()";
    let outcome = python(content).timeout(2000).run().await;
    // On a machine that is busy the deadline comes first.
    if outcome.ending() != Ending::TimedOut {
        assert_eq!(outcome.ending(), Ending::Exited { code: 128 + 24, signal: Some(24) });
        assert_eq!(outcome.limits_hit(), [LimitHit::Cpu]);
    }
    let outcome = bash("kill -XCPU $$").run().await;
    assert!(outcome.limits_hit().is_empty(), "a signal that a script sends itself is no limit");
}

#[tokio::test(flavor = "multi_thread")]
async fn descriptors_and_threads_return_to_where_they_were() {
    nothing_accumulates("endings::descriptors_and_threads_return_to_where_they_were").await;
}

#[tokio::test]
async fn nothing_survives_a_killed_service() {
    if let Some(word) = std::env::var_os("BELLJAR_TEST_VICTIM") {
        let word = word.to_string_lossy().into_owned();
        bash(&format!("setsid sleep {word} & trap '' HUP TERM; sleep {word}; sleep {word}")).run().await;
        return;
    }
    let word = unique_seconds();
    let mut service = itself("endings::nothing_survives_a_killed_service");
    let mut service = service.env("BELLJAR_TEST_VICTIM", &word).stdout(Stdio::null()).spawn().unwrap();
    wait_until("the script runs", || is_running(&format!("sleep\0{word}"))).await;
    service.kill().unwrap();
    service.wait().unwrap();
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert!(!is_running(&format!("sleep\0{word}")));
}
