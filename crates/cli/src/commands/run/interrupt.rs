//! Signals that cancel a run.

use std::sync::atomic::{AtomicBool, Ordering};

use belljar_executor::Cancel;
use tokio::signal::unix::{SignalKind, signal};

use crate::exit;

/// Whether the next signal ends the process, because there is nothing left to cancel.
static ENDS: AtomicBool = AtomicBool::new(false);

/// Fires the token at the first interrupt, termination or hang-up, and ends the process at the next one.
/// A signal that whoever started this process ignores (`nohup`, a shell's background) stays ignored.
pub(super) fn cancel_on_signal(cancel: &Cancel) {
    let ignored = ignored();
    for kind in [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()] {
        if ignored >> (kind.as_raw_value() - 1) & 1 == 1 {
            continue;
        }
        match signal(kind) {
            Ok(mut signals) => {
                let cancel = cancel.clone();
                tokio::spawn(async move {
                    while signals.recv().await.is_some() {
                        if ENDS.swap(true, Ordering::SeqCst) {
                            end();
                        }
                        cancel.fire();
                    }
                });
            }
            Err(error) => tracing::error!(%error, ?kind, "a signal cannot be watched: it ends the process at once"),
        }
    }
}

#[expect(clippy::exit, clippy::disallowed_methods, reason = "whoever signals twice does not wait for main to return")]
fn end() -> ! {
    std::process::exit(exit::CANCELLED.into())
}

/// Makes the next signal end the process: the run is over and recorded.
pub(super) fn end_on_signal() {
    ENDS.store(true, Ordering::SeqCst);
}

/// The signals that are ignored, a bit each from signal 1 on, as the kernel tells it.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
