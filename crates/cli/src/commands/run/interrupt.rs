//! Signals that cancel a run.

use std::sync::atomic::{AtomicBool, Ordering};

use belljar_executor::Cancel;
use tokio::signal::unix::{SignalKind, signal};

use crate::signals;

/// Whether the next signal ends the process, because there is nothing left to cancel.
static ENDS: AtomicBool = AtomicBool::new(false);

/// Fires the token at the first interrupt, termination or hang-up, and ends the process at the next one.
/// A signal that whoever started this process ignores (`nohup`, a shell's background) stays ignored.
pub(super) fn cancel_on_signal(cancel: &Cancel) {
    for kind in [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()] {
        if signals::is_ignored(kind) {
            continue;
        }
        match signal(kind) {
            Ok(mut signals) => {
                let cancel = cancel.clone();
                tokio::spawn(async move {
                    while signals.recv().await.is_some() {
                        if ENDS.swap(true, Ordering::SeqCst) {
                            signals::end();
                        }
                        cancel.fire();
                    }
                });
            }
            Err(error) => tracing::error!(%error, ?kind, "a signal cannot be watched: it ends the process at once"),
        }
    }
}

/// Makes the next signal end the process: the run is over and recorded.
pub(super) fn end_on_signal() {
    ENDS.store(true, Ordering::SeqCst);
}
