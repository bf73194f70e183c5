//! The configuration of a binary that has no file: it runs approved stored scripts, isolated.

use super::sections::{Config, Execution};

/// The built-in configuration.
pub(super) fn config() -> Config {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let total = u32::try_from(cores.saturating_mul(2)).unwrap_or(u32::MAX).max(4);
    let interpreters = [("py", "python"), ("sh", "sh"), ("bash", "bash")];
    Config {
        execution: Execution {
            enabled: true,
            platform_isolation_acknowledged: true,
            allow_stored_scripts: true,
            max_concurrent_total: total,
            ..Execution::default()
        },
        interpreters: interpreters.map(|(key, value)| (key.to_owned(), value.to_owned())).into(),
        ..Config::default()
    }
}
