//! The processes of one run, found by the mark that all of them inherit.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

/// Kills what is left of a run when dropped, unless told to forget it.
pub(crate) struct Traces(Option<String>);

impl Traces {
    pub(crate) fn of(mark: &str) -> Self {
        Self(Some(mark.to_owned()))
    }

    pub(crate) fn forget(&mut self) {
        self.0 = None;
    }

    /// Sends TERM once and waits for as long as it takes.
    pub(crate) async fn ask_to_end(self) {
        let mark = self.0.clone().unwrap();
        signal(&mark, Signal::TERM);
        while !processes(&mark).is_empty() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

impl Drop for Traces {
    fn drop(&mut self) {
        if let Some(mark) = &self.0 {
            kill_all(mark);
        }
    }
}

/// Kills every process with the mark until there is none.
pub(crate) fn kill_all(mark: &str) {
    for _ in 0..1000 {
        if processes(mark).is_empty() {
            return;
        }
        signal(mark, Signal::KILL);
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("processes that do not die: {:?}", processes(mark));
}

fn signal(mark: &str, signal: Signal) {
    for pid in processes(mark) {
        // It may have ended meanwhile.
        let _ = kill_process(pid, signal);
    }
}

fn processes(mark: &str) -> Vec<Pid> {
    let variable = format!("CONTRACT_RUN={mark}");
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            let pid = Pid::from_raw(entry.file_name().to_str()?.parse().ok()?)?;
            let environment = std::fs::read(entry.path().join("environ")).ok()?;
            environment.split(|byte| *byte == 0).any(|line| line == variable.as_bytes()).then_some(pid)
        })
        .collect()
}
