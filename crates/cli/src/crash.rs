//! For crash tests: ends the process at a named point that the crates below mark with an event.

use std::sync::atomic::{AtomicU64, Ordering};

use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

/// Ends the process, with nothing cleaned up, when the point in `BELLJAR_CRASH_AT` is reached, or, for
/// `point:n`, when it is reached for the n-th time.
pub(crate) struct CrashLayer {
    point: String,
    left: AtomicU64,
}

impl CrashLayer {
    /// A layer for the point that the environment names.
    pub(crate) fn from_environment() -> Self {
        let wanted = std::env::var("BELLJAR_CRASH_AT").unwrap_or_default();
        let (point, turn) = wanted.split_once(':').unwrap_or((&wanted, "1"));
        Self { point: point.to_owned(), left: AtomicU64::new(turn.parse().unwrap_or(1)) }
    }
}

impl<S: Subscriber> Layer<S> for CrashLayer {
    fn on_event(&self, event: &Event<'_>, _context: Context<'_, S>) {
        if event.metadata().target() != "belljar::point" {
            return;
        }
        let mut name = PointName::default();
        event.record(&mut name);
        if self.point == name.0 && self.left.fetch_sub(1, Ordering::SeqCst) == 1 {
            std::process::abort();
        }
    }
}

#[derive(Default)]
struct PointName(String);

impl Visit for PointName {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "point" {
            value.clone_into(&mut self.0);
        }
    }

    fn record_debug(&mut self, _field: &Field, _value: &dyn std::fmt::Debug) {}
}
