//! Signals that ask this program to stop.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::exit;

/// Whether whoever started this process ignores a signal (`nohup`, a shell's background); it stays ignored.
pub(crate) fn is_ignored(kind: SignalKind) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (kind.as_raw_value() - 1) & 1 == 1
}

/// The interrupts, terminations and hang-ups that come from now on.
#[derive(Debug)]
pub(crate) struct Stops {
    signals: Vec<Signal>,
}

impl Stops {
    /// Watches for them; until then each ends the process.
    pub(crate) fn watch() -> std::io::Result<Self> {
        let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
        let watched = kinds.into_iter().filter(|kind| !is_ignored(*kind)).map(signal);
        Ok(Self { signals: watched.collect::<Result<_, _>>()? })
    }

    /// Waits for the next of them.
    pub(crate) async fn next(&mut self) {
        std::future::poll_fn(|context| {
            let came = self.signals.iter_mut().any(|signal| signal.poll_recv(context).is_ready());
            if came { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
        })
        .await;
    }
}

/// Ends this process at once.
#[expect(clippy::exit, clippy::disallowed_methods, reason = "whoever signals twice does not wait for main to return")]
pub(crate) fn end() -> ! {
    std::process::exit(exit::CANCELLED.into())
}
