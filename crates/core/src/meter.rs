//! Counts of what happened, without any text that a caller controls.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::code::Reason;
use crate::execution::Status;

/// The counters of one service.
#[derive(Debug, Default)]
pub struct Meter {
    invocations: Mutex<BTreeMap<Status, u64>>,
    denials: Mutex<BTreeMap<Reason, u64>>,
    audit_refused: AtomicU64,
    audit_swallowed: AtomicU64,
    executor_faults: AtomicU64,
    truncations: AtomicU64,
    duration_microseconds: AtomicU64,
    slot_wait_microseconds: AtomicU64,
    running: AtomicI64,
    abandoned: AtomicI64,
}

/// The counters at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Ended runs by status.
    pub invocations: BTreeMap<Status, u64>,
    /// Denials by reason.
    pub denials: BTreeMap<Reason, u64>,
    /// Audit entries that could not be written and refused a run.
    pub audit_refused: u64,
    /// Audit entries or records that could not be written and changed nothing for the caller.
    pub audit_swallowed: u64,
    /// Executor faults.
    pub executor_faults: u64,
    /// Streams that were cut.
    pub truncations: u64,
    /// The time of all runs together, from slot to end.
    pub duration: Duration,
    /// The time that all runs together waited for a slot.
    pub slot_wait: Duration,
    /// Runs that hold a slot.
    pub running: i64,
    /// Executor tasks that the host no longer waits for and that have not ended.
    pub abandoned: i64,
}

impl Meter {
    pub(crate) fn ended(&self, status: Status, truncated_streams: u64, duration: Duration) {
        if let Ok(mut counts) = self.invocations.lock() {
            *counts.entry(status).or_default() += 1;
        }
        self.truncations.fetch_add(truncated_streams, Ordering::Relaxed);
        self.duration_microseconds.fetch_add(microseconds(duration), Ordering::Relaxed);
        if status == Status::Fault {
            self.executor_faults.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn waited_for_slot(&self, duration: Duration) {
        self.slot_wait_microseconds.fetch_add(microseconds(duration), Ordering::Relaxed);
    }

    pub(crate) fn denied(&self, reason: Reason) {
        if let Ok(mut counts) = self.denials.lock() {
            *counts.entry(reason).or_default() += 1;
        }
    }

    pub(crate) fn audit_refused(&self) {
        self.audit_refused.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn audit_swallowed(&self) {
        self.audit_swallowed.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a run that holds a slot, until the answer is dropped.
    pub(crate) fn count_running(self: &Arc<Self>) -> Counted {
        Counted::new(self, |meter| &meter.running)
    }

    /// Counts a task that nobody waits for, until the answer is dropped.
    pub(crate) fn count_abandoned(self: &Arc<Self>) -> Counted {
        Counted::new(self, |meter| &meter.abandoned)
    }

    /// The counters now.
    #[must_use]
    pub fn read(&self) -> Reading {
        Reading {
            invocations: self.invocations.lock().map(|counts| counts.clone()).unwrap_or_default(),
            denials: self.denials.lock().map(|counts| counts.clone()).unwrap_or_default(),
            audit_refused: self.audit_refused.load(Ordering::Relaxed),
            audit_swallowed: self.audit_swallowed.load(Ordering::Relaxed),
            executor_faults: self.executor_faults.load(Ordering::Relaxed),
            truncations: self.truncations.load(Ordering::Relaxed),
            duration: Duration::from_micros(self.duration_microseconds.load(Ordering::Relaxed)),
            slot_wait: Duration::from_micros(self.slot_wait_microseconds.load(Ordering::Relaxed)),
            running: self.running.load(Ordering::Relaxed),
            abandoned: self.abandoned.load(Ordering::Relaxed),
        }
    }
}

/// Keeps a gauge up by one. Dropping it, also while a panic unwinds, takes it down again.
#[derive(Debug)]
pub(crate) struct Counted {
    meter: Arc<Meter>,
    gauge: fn(&Meter) -> &AtomicI64,
}

impl Counted {
    fn new(meter: &Arc<Meter>, gauge: fn(&Meter) -> &AtomicI64) -> Self {
        gauge(meter).fetch_add(1, Ordering::Relaxed);
        Self { meter: Arc::clone(meter), gauge }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        (self.gauge)(&self.meter).fetch_sub(1, Ordering::Relaxed);
    }
}

fn microseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
