//! The log: on standard error, as text or JSON lines, filtered by `BELLJAR_LOG`.

use tracing_subscriber::EnvFilter;

use crate::arguments::{Global, LogFormat};

/// Starts the log. A filter that cannot be read falls back to warnings, which the first line says.
pub(crate) fn start(global: &Global) {
    let wanted = global.log.as_deref().unwrap_or("warn");
    let (filter, fault) = match EnvFilter::try_new(wanted) {
        Ok(filter) => (filter, None),
        Err(error) => (EnvFilter::new("warn"), Some(error)),
    };
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    match global.log_format {
        LogFormat::Text => builder.with_target(false).init(),
        LogFormat::Json => builder.json().init(),
    }
    if let Some(error) = fault {
        tracing::warn!(%error, "the log filter cannot be read; warnings are logged");
    }
}
