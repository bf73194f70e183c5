//! The client against the runner service beside it, held to the contract.

#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test fails by panicking and starts a runner")]

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use belljar_contract::Subject;
use belljar_example_runner_client::RunnerServiceExecutor;

/// The service, which lives as long as this program.
struct Runner {
    process: Child,
    port: u16,
}

const SERVICE: &str = include_str!("../runner.py");

fn runner() -> &'static Runner {
    static RUNNER: OnceLock<Runner> = OnceLock::new();
    RUNNER.get_or_init(|| {
        let mut command = Command::new("python3");
        // With its end of the pipe, the service ends when this program does, whatever ends it.
        let service = format!("import threading, os, sys\nthreading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()\n{SERVICE}");
        let mut process =
            command.args(["-c", &service]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Runner { port: line.trim().parse().unwrap(), process }
    })
}

/// Whether a process with this word is there. Once it was seen, it gets the time to go that the news of a closed
/// connection takes: the published form has no answer to a cancellation.
fn is_running(word: &str) -> bool {
    static SEEN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    if SEEN.lock().unwrap().contains(word) {
        return (0..60).all(|_| {
            std::thread::sleep(Duration::from_millis(50));
            is_running_now(word)
        });
    }
    let is_running = is_running_now(word);
    if is_running {
        SEEN.lock().unwrap().insert(word.to_owned());
    }
    is_running
}

fn is_running_now(word: &str) -> bool {
    let own = [std::process::id(), runner().process.id()].map(|pid| pid.to_string());
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter(|entry| !own.iter().any(|pid| entry.file_name().to_str() == Some(pid)))
        .filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
        .any(|line| String::from_utf8_lossy(&line).contains(word))
}

fn subject() -> Subject {
    let executor = RunnerServiceExecutor::new(&format!("http://127.0.0.1:{}/", runner().port)).unwrap();
    Subject::new(Arc::new(executor), "sh")
        .sight(is_running)
        .decline("usage_is_told", "the published form has no usage")
        .decline("signal_is_told", "the published form has exit codes alone")
}

belljar_contract::contract_tests! { strict, subject() }
