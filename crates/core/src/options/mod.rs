//! The options of the run, in two stages: a draft that may say anything, and checked options that can
//! no longer be wrong.

mod check;
mod checked;

use std::collections::BTreeMap;
use std::path::PathBuf;

use belljar_executor::{Limits, Requirement};

pub use checked::Options;

/// What happens to an allow-list entry whose runtime the executor does not know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnknownRuntimes {
    /// The service does not start: somebody asked for it by name.
    #[default]
    Refuse,
    /// The entry is left out, as fits a list that nobody wrote for this host.
    LeaveOut,
}

/// Options as written down. [`check`](Self::check) reports everything that is wrong at once.
#[derive(Clone, Debug)]
pub struct OptionsDraft {
    /// Whether scripts run at all.
    pub enabled: bool,
    /// That somebody answers for the isolation, which cannot be verified from outside.
    pub platform_isolation_acknowledged: bool,
    /// Whether stored scripts run.
    pub allow_stored_scripts: bool,
    /// Language key → runtime name or interpreter path.
    pub interpreters: BTreeMap<String, String>,
    /// The time-out when nobody names one, seconds.
    pub timeout_default_seconds: u64,
    /// The longest time-out, seconds.
    pub timeout_max_seconds: u64,
    /// The cap of each output stream, UTF-8 bytes.
    pub max_output_bytes: u64,
    /// The largest input JSON and argv together, UTF-8 bytes.
    pub max_argument_bytes: u64,
    /// The largest script, bytes.
    pub max_script_bytes: u64,
    /// Runs of one tenant at once.
    pub max_concurrent_per_tenant: u32,
    /// Runs at once.
    pub max_concurrent_total: u32,
    /// The longest wait for a slot, seconds.
    pub slot_wait_seconds: u64,
    /// Limits classes by name; `standard` exists without being named.
    pub limits_classes: BTreeMap<String, Limits>,
    /// Language key → limits class, where it is not `standard`.
    pub runtime_limits: BTreeMap<String, String>,
    /// Folders of file skills, absolute: each skill is a folder named like it, in a root or one level below.
    pub skill_roots: Vec<PathBuf>,
    /// Whether a grant for a script of a file skill must be at the pin of what would run.
    pub pin_file_scripts: bool,
    /// What the executor's report must say.
    pub require: Requirement,
    /// What happens to an allow-list entry whose runtime the executor does not know.
    pub unknown_runtimes: UnknownRuntimes,
    /// Whether several tenants share this service: then granting a stored script needs `platform:admin`.
    pub multi_tenant: bool,
}

impl Default for OptionsDraft {
    /// The library's defaults: nothing runs.
    fn default() -> Self {
        Self {
            enabled: false,
            platform_isolation_acknowledged: false,
            allow_stored_scripts: false,
            interpreters: BTreeMap::new(),
            timeout_default_seconds: 30,
            timeout_max_seconds: 60,
            max_output_bytes: 262_144,
            max_argument_bytes: 16_384,
            max_script_bytes: 262_144,
            max_concurrent_per_tenant: 2,
            max_concurrent_total: 8,
            slot_wait_seconds: 30,
            limits_classes: BTreeMap::new(),
            runtime_limits: BTreeMap::new(),
            skill_roots: Vec::new(),
            pin_file_scripts: false,
            require: Requirement::default(),
            unknown_runtimes: UnknownRuntimes::default(),
            multi_tenant: false,
        }
    }
}
