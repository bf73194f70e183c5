//! What a run came to.

use std::time::Duration;

use serde::Serialize;

use crate::{Captured, Report};

/// How the script ended: by itself or at the deadline. There is no third shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The main process ended by itself.
    Exited {
        /// Its exit code; 128 + n for signal n.
        code: i32,
        /// The signal that killed it.
        signal: Option<i32>,
    },
    /// The deadline ended it.
    TimedOut,
}

/// A resource limit that a run ran into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LimitHit {
    /// Memory, killed by the kernel or by the sandbox.
    Memory,
    /// Processes and threads.
    Tasks,
    /// A writable file system was full at the end.
    Disk,
    /// Processor time.
    Cpu,
}

impl LimitHit {
    /// The word used in results and messages.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Tasks => "tasks",
            Self::Disk => "disk",
            Self::Cpu => "cpu",
        }
    }
}

/// What a run used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Largest resident memory, bytes.
    pub memory_peak_bytes: u64,
    /// Processor time, user and system, of all processes of the run.
    pub cpu_time: Duration,
    /// Where the figures come from, such as `rusage` or `cgroup`.
    pub source: &'static str,
}

/// The result of a run that started.
#[derive(Clone, Debug)]
pub struct Outcome {
    ending: Ending,
    stdout: Captured,
    stderr: Captured,
    limits_hit: Vec<LimitHit>,
    usage: Option<Usage>,
    isolation: Option<Report>,
}

impl Outcome {
    /// The main process ended with this exit code.
    #[must_use]
    pub fn exited(code: i32, stdout: Captured, stderr: Captured) -> Self {
        Self::new(Ending::Exited { code, signal: None }, stdout, stderr)
    }

    /// The main process was killed by this signal: exit code 128 + n.
    #[must_use]
    pub fn signalled(signal: i32, stdout: Captured, stderr: Captured) -> Self {
        Self::new(Ending::Exited { code: 128 + signal, signal: Some(signal) }, stdout, stderr)
    }

    /// The deadline ended the run; the output so far is kept.
    #[must_use]
    pub fn timed_out(stdout: Captured, stderr: Captured) -> Self {
        Self::new(Ending::TimedOut, stdout, stderr)
    }

    fn new(ending: Ending, stdout: Captured, stderr: Captured) -> Self {
        Self { ending, stdout, stderr, limits_hit: Vec::new(), usage: None, isolation: None }
    }

    /// Names the limits that the run ran into.
    #[must_use]
    pub fn with_limits_hit(mut self, mut limits_hit: Vec<LimitHit>) -> Self {
        limits_hit.sort_unstable();
        limits_hit.dedup();
        self.limits_hit = limits_hit;
        self
    }

    /// Says what the run used.
    #[must_use]
    pub fn with_usage(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }

    /// Says what was enforced for this run.
    #[must_use]
    pub fn with_isolation(mut self, isolation: Report) -> Self {
        self.isolation = Some(isolation);
        self
    }

    /// Cuts both streams at `cap` UTF-8 bytes, as a host does with every executor's outcome.
    #[must_use]
    pub fn capped(mut self, cap: usize) -> Self {
        self.stdout = self.stdout.capped(cap);
        self.stderr = self.stderr.capped(cap);
        self
    }

    /// How it ended.
    #[must_use]
    pub const fn ending(&self) -> Ending {
        self.ending
    }

    /// Standard output.
    #[must_use]
    pub const fn stdout(&self) -> &Captured {
        &self.stdout
    }

    /// Standard error.
    #[must_use]
    pub const fn stderr(&self) -> &Captured {
        &self.stderr
    }

    /// The limits that were hit, sorted.
    #[must_use]
    pub fn limits_hit(&self) -> &[LimitHit] {
        &self.limits_hit
    }

    /// What the run used, when the executor knows.
    #[must_use]
    pub const fn usage(&self) -> Option<&Usage> {
        self.usage.as_ref()
    }

    /// What was enforced for this run, when the executor says so.
    #[must_use]
    pub const fn isolation(&self) -> Option<&Report> {
        self.isolation.as_ref()
    }
}
