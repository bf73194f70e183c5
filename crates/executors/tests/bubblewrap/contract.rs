//! The clauses that every executor satisfies.

use belljar_executor::{Cancel, Ending, ErrorKind, Executor};

use crate::support::{bash, executor, python, script};

const EXITED_0: Ending = Ending::Exited { code: 0, signal: None };

#[tokio::test]
async fn arguments_arrive_byte_for_byte_and_then_end() {
    let input = "{\"é\": \"\\u0000 \u{1F600}\", \"n\":1.50}\r\n";
    let output = python("import sys; d = sys.stdin.buffer.read(); sys.stdout.buffer.write(d)").input(input).output();
    assert_eq!(output.await, input);
    assert_eq!(bash("wc -c").output().await.trim(), "0");
}

#[tokio::test]
async fn input_larger_than_a_pipe_arrives_whole_or_is_never_read() {
    let input = "x".repeat(3_000_000);
    assert_eq!(bash("wc -c").input(&input).output().await.trim(), "3000000");
    assert_eq!(bash("exit 0").input(&input).run().await.ending(), EXITED_0);
    let outcome = bash("exec 0<&-; sleep 0.2; echo done").input(&input).run().await;
    assert_eq!(outcome.stdout().text, "done\n");
    let outcome = bash("sleep 30").input(&input).timeout(300).run().await;
    assert_eq!(outcome.ending(), Ending::TimedOut);
}

#[tokio::test]
async fn an_empty_script_exits_0_with_nothing() {
    for runtime in ["python", "sh", "bash"] {
        let outcome = script(runtime, "").run().await;
        assert_eq!((outcome.ending(), outcome.stdout().text.as_str()), (EXITED_0, ""), "{runtime}");
        assert_eq!(outcome.stderr().text, "", "{runtime}");
    }
}

#[tokio::test]
async fn exit_codes_and_signals_are_told_apart() {
    for code in [1, 2, 126, 127, 137, 255] {
        let outcome = bash(&format!("exit {code}")).run().await;
        assert_eq!(outcome.ending(), Ending::Exited { code, signal: None });
    }
    for signal in [6, 9, 11, 15] {
        let outcome = bash(&format!("kill -{signal} $$")).run().await;
        assert_eq!(outcome.ending(), Ending::Exited { code: 128 + signal, signal: Some(signal) });
    }
}

#[tokio::test]
async fn the_cap_is_exact() {
    for (written, truncated) in [(9_999, false), (10_000, false), (10_001, true), (5_000_000, true)] {
        let outcome = python(&format!("import sys; sys.stdout.write('a' * {written}); sys.stderr.write('b' * 9)"))
            .cap(10_000)
            .run()
            .await;
        assert_eq!(outcome.ending(), EXITED_0);
        assert_eq!(outcome.stdout().text.len(), written.min(10_000));
        assert_eq!(outcome.stdout().truncated, truncated, "{written}");
        assert_eq!((outcome.stderr().text.as_str(), outcome.stderr().truncated), ("bbbbbbbbb", false));
    }
}

#[tokio::test]
async fn invalid_text_is_replaced_and_a_cut_character_is_dropped() {
    let outcome = bash(r"printf 'a\xff\x00b'").run().await;
    assert_eq!(outcome.stdout().text, "a\u{FFFD}\0b");
    let outcome = bash("printf '\u{1F600}\u{1F600}'").cap(6).run().await;
    assert_eq!(outcome.stdout().text, "\u{1F600}");
    assert!(outcome.stdout().truncated);
}

#[tokio::test]
async fn the_environment_is_exactly_the_documented_one() {
    let common = "BELLJAR_SKILL_DIR=/skill\nBELLJAR_WORKSPACE=/workspace\nHOME=/tmp\nLANG=C.UTF-8\n\
        PATH=/runtime/bin:/usr/local/bin:/usr/bin:/bin\n";
    let own = "TRACON_SKILL_NAME=demo\nTRACON_SKILL_TEMP=/tmp\n";
    let shell = script("sh", "cat /proc/self/environ | tr '\\0' '\\n' | grep -v -e ^PWD= -e ^OLDPWD= -e ^_= | sort")
        .output()
        .await;
    assert_eq!(shell, format!("{common}{own}"));
    let python = python("import os\nfor k in sorted(os.environ):\n    print(f'{k}={os.environ[k]}')").output().await;
    assert_eq!(
        python.replace("LC_CTYPE=C.UTF-8\n", ""),
        format!("{common}PYTHONDONTWRITEBYTECODE=1\nPYTHONPATH=/skill\n{own}")
    );
}

#[tokio::test]
async fn the_temp_folder_is_empty_and_gone_afterwards() {
    for _ in 0..2 {
        let text =
            bash("ls -A $TRACON_SKILL_TEMP /workspace | tr '\\n' ' '; touch /tmp/left /workspace/left").output().await;
        assert_eq!(text, "/tmp:  /workspace: ");
    }
}

#[tokio::test]
async fn the_script_runs_by_path_with_its_arguments_in_the_folder_asked_for() {
    use belljar_executor::WorkingDirectory;

    let mut wanted = python("import os, sys; print(sys.argv, os.getcwd(), sys.path[0])");
    wanted.0.argv = vec!["--a".into(), "b c".into(), String::new(), "ü".into()];
    for (cwd, folder) in [
        (WorkingDirectory::Workspace, "/workspace"),
        (WorkingDirectory::Skill, "/skill"),
        (WorkingDirectory::Script, "/skill/scripts"),
    ] {
        wanted.0.cwd = cwd;
        let expected = format!("['/skill/scripts/main.py', '--a', 'b c', '', 'ü'] {folder} /skill/scripts\n");
        assert_eq!(wanted.clone().output().await, expected);
    }
}

#[tokio::test]
async fn a_request_runs_its_content_and_nothing_else() {
    let mut differing = bash("echo approved");
    differing.0.content = "echo something else".into();
    let error = differing.execute(Cancel::new()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::FAULT);
}

#[tokio::test]
async fn the_whole_revision_is_there() {
    let text = bash("cd /skill; cat assets/a.txt; test -x bin/tool && bin/tool; test -x assets/a.txt || echo plain")
        .file("assets/a.txt", b"text\n")
        .file("bin/tool", b"#!/bin/sh\necho tool\n")
        .output()
        .await;
    assert_eq!(text, "text\ntool\nplain\n");
}

#[tokio::test]
async fn runtime_names_are_resolved_and_unknown_ones_are_a_fault() {
    let report = executor().probe().await.unwrap();
    let runtimes = report.runtimes.unwrap();
    for name in ["python", "sh", "bash"] {
        assert!(runtimes.keys().any(|known| known.as_str() == name), "{name}");
    }
    for name in runtimes.keys().filter(|name| name.as_str().starts_with("python")) {
        assert_eq!(script(name.as_str(), "print(1)").output().await, "1\n");
    }
    assert_eq!(script("/usr/bin/python3", "print(2)").output().await, "2\n");
    for unknown in ["cobol", "/home/someone/python3", "/usr/bin/no-such-program"] {
        let error = script(unknown, "").execute(Cancel::new()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::FAULT, "{unknown}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_instance_serves_eight_runs_at_once() {
    let content = "cat /proc/self/uid_map | tr -s ' '; sleep 0.5";
    let runs: Vec<_> = (0..8).map(|_| tokio::spawn(bash(content).output())).collect();
    let mut maps = Vec::new();
    for run in runs {
        maps.push(run.await.unwrap());
    }
    maps.sort();
    maps.dedup();
    let expected = if rustix::process::geteuid().is_root() { 8 } else { 1 };
    assert_eq!(maps.len(), expected, "{maps:?}");
    assert!(maps.iter().all(|map| !map.trim().starts_with("65534 0 ")), "{maps:?}");
}

#[tokio::test]
async fn usage_is_told() {
    let outcome = python("x = bytearray(b'x' * (64 << 20))\nfor _ in range(3_000_000): pass").run().await;
    let usage = outcome.usage().unwrap();
    assert!((64 << 20..200 << 20).contains(&usage.memory_peak_bytes), "{usage:?}");
    assert!(usage.cpu_time.as_millis() > 20, "{usage:?}");
    let small = script("sh", "exit 0").run().await;
    assert!(small.usage().unwrap().memory_peak_bytes < 8 << 20, "{:?}", small.usage());
}

#[tokio::test]
async fn a_plan_says_what_a_run_gets() {
    let request = belljar_executor::ExecutionRequest::new(python("secret").input("hidden").0);
    let plan = serde_json::to_string(&executor().explain(&request).await.unwrap()).unwrap();
    assert!(plan.contains("/skill/scripts/main.py") && plan.contains("/workspace"), "{plan}");
    assert!(!plan.contains("secret") && !plan.contains("hidden"), "{plan}");
}
