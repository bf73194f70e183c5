//! The log: on standard error, as text or JSON lines, filtered by `BELLJAR_LOG`.

use tracing_subscriber::filter::{FilterExt, FilterFn, LevelFilter, filter_fn};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, Registry};

use crate::arguments::{Global, LogFormat};

/// Starts the log. A filter that cannot be read falls back to warnings, which the first line says.
pub(crate) fn start(global: &Global) {
    let wanted = global.log.as_deref().unwrap_or("warn");
    let (filter, fault) = match EnvFilter::try_new(wanted) {
        Ok(filter) => (filter, None),
        Err(error) => (EnvFilter::new("warn"), Some(error)),
    };
    let lines = tracing_subscriber::fmt::layer::<Registry>().with_writer(std::io::stderr);
    let lines = match global.log_format {
        LogFormat::Text => lines.with_target(false).with_filter(filter.and(discreet())).boxed(),
        LogFormat::Json => lines.json().with_filter(filter.and(discreet())).boxed(),
    };
    let registry = tracing_subscriber::registry().with(lines);
    #[cfg(feature = "crash-points")]
    let registry = registry.with(crate::crash::CrashLayer::from_environment());
    registry.init();
    if let Some(error) = fault {
        tracing::warn!(%error, "the log filter cannot be read; warnings are logged");
    }
}

/// Whatever the filter says: the protocol's library tells whole messages below a warning, arguments and output of
/// scripts among them, and those belong in no log.
fn discreet() -> FilterFn {
    filter_fn(|metadata| {
        let target = metadata.target();
        let is_library = target == "rmcp" || target.starts_with("rmcp::");
        !is_library || *metadata.level() <= LevelFilter::WARN
    })
}
