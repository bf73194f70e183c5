//! Configuration in two stages: what is written (unknown keys refused), and the checked options.
//!
//! A file that exists is taken as it stands. Without one a built-in configuration is used, which
//! `config show` prints. What widens execution comes from the file alone, never from the environment.

mod built_in;
mod sections;

use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use belljar_core::options::{OptionsDraft, UnknownRuntimes};
use belljar_executor::Requirement;

pub(crate) use sections::{Config, ExecutorName, Local};

use crate::state;

/// Where a configuration comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// No file: the built-in one.
    BuiltIn,
    /// This file.
    File(PathBuf),
}

impl std::fmt::Display for Origin {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::BuiltIn => formatter.write_str("built-in (no configuration file)"),
            Self::File(path) => write!(formatter, "{}", path.display()),
        }
    }
}

/// A configuration and where it comes from.
#[derive(Clone, Debug)]
pub(crate) struct Loaded {
    pub(crate) config: Config,
    pub(crate) origin: Origin,
}

/// Reads the named file, else the user's, else the system's, else the built-in configuration.
pub(crate) fn load(named: Option<&Path>) -> Result<Loaded> {
    if let Some(path) = named {
        return read(path);
    }
    for path in state::config_candidates() {
        // A file that exists and cannot be read, or may exist, must not be passed over: it may be the
        // stricter one.
        match std::fs::symlink_metadata(&path) {
            Ok(_) => return read(&path),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
            Err(error) => {
                let message = format!("whether there is a configuration file {} cannot be told", path.display());
                return Err(anyhow::Error::new(error).context(message));
            }
        }
    }
    Ok(Loaded { config: built_in::config(), origin: Origin::BuiltIn })
}

fn read(path: &Path) -> Result<Loaded> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("the configuration file {} cannot be read", path.display()))?;
    let config =
        toml::from_str(&text).with_context(|| format!("the configuration file {} is wrong", path.display()))?;
    Ok(Loaded { config, origin: Origin::File(path.to_owned()) })
}

impl Config {
    /// The options to be checked.
    pub(crate) fn draft(&self, executor: ExecutorName) -> OptionsDraft {
        let execution = &self.execution;
        // Whoever names the executor that isolates nothing asks for no isolation but what is named, too.
        let require = match executor {
            ExecutorName::Local => Requirement::only(&self.isolation.require),
            ExecutorName::Auto | ExecutorName::Bubblewrap => Requirement::with(&self.isolation.require),
        };
        OptionsDraft {
            enabled: execution.enabled,
            platform_isolation_acknowledged: execution.platform_isolation_acknowledged,
            allow_stored_scripts: execution.allow_stored_scripts,
            interpreters: self.interpreters.clone(),
            timeout_default_seconds: execution.timeout.default,
            timeout_max_seconds: execution.timeout.max,
            max_output_bytes: execution.max_output_bytes,
            max_argument_bytes: execution.max_argument_bytes,
            max_script_bytes: execution.max_script_bytes,
            max_concurrent_per_tenant: execution.max_concurrent_per_tenant,
            max_concurrent_total: execution.max_concurrent_total,
            slot_wait_seconds: execution.slot_wait_seconds,
            limits_classes: self.limits.clone(),
            runtime_limits: self.runtimes.iter().map(|(key, runtime)| (key.clone(), runtime.limits.clone())).collect(),
            skill_roots: self.skills.roots.clone(),
            pin_file_scripts: self.skills.pin_file_scripts,
            require,
            unknown_runtimes: UnknownRuntimes::Refuse,
            multi_tenant: false,
        }
    }

    /// Interpreter paths where there is no program. A sandbox sees the system's folder `/usr`, and no home.
    pub(crate) fn missing_interpreters(&self, executor: ExecutorName) -> Vec<String> {
        let (folder, place) = match executor {
            ExecutorName::Local => ("/", ""),
            ExecutorName::Auto | ExecutorName::Bubblewrap => ("/usr", " under /usr"),
        };
        let paths = self.interpreters.iter().filter(|(_, value)| value.starts_with('/'));
        let missing = paths.filter(|(_, path)| {
            !Path::new(path).canonicalize().is_ok_and(|path| path.starts_with(folder) && is_program(&path))
        });
        missing.map(|(key, path)| format!("interpreters.{key} = {path:?}: there is no such program{place}")).collect()
    }
}

/// Whether this is a file that somebody may execute.
fn is_program(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}
