//! Options that were checked.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use belljar_executor::{Interpreter, LanguageKey, Limits, LimitsClass, Requirement};

/// Checked options.
#[derive(Clone, Debug)]
pub struct Options {
    pub(super) enabled: bool,
    pub(super) allow_stored_scripts: bool,
    pub(super) interpreters: BTreeMap<LanguageKey, Interpreter>,
    pub(super) timeout_default: Duration,
    pub(super) timeout_max: Duration,
    pub(super) max_output_bytes: usize,
    pub(super) max_argument_bytes: usize,
    pub(super) max_script_bytes: usize,
    pub(super) max_concurrent_per_tenant: usize,
    pub(super) max_concurrent_total: usize,
    pub(super) slot_wait: Duration,
    pub(super) limits_classes: BTreeMap<LimitsClass, Limits>,
    pub(super) runtime_limits: BTreeMap<LanguageKey, LimitsClass>,
    pub(super) standard: LimitsClass,
    pub(super) skill_roots: Vec<PathBuf>,
    pub(super) pin_file_scripts: bool,
    pub(super) require: Requirement,
    pub(super) multi_tenant: bool,
}

impl Options {
    /// Whether scripts run at all.
    #[must_use]
    pub const fn enabled(&self) -> bool {
        self.enabled
    }

    /// Whether stored scripts run.
    #[must_use]
    pub const fn allow_stored_scripts(&self) -> bool {
        self.allow_stored_scripts
    }

    /// The allow-list value for a language.
    #[must_use]
    pub fn interpreter(&self, language: &LanguageKey) -> Option<&Interpreter> {
        self.interpreters.get(language)
    }

    /// The whole allow-list.
    pub fn interpreters(&self) -> impl Iterator<Item = (&LanguageKey, &Interpreter)> {
        self.interpreters.iter()
    }

    /// Leaves out what the executor cannot run.
    pub(crate) fn retain_interpreters(&mut self, mut keep: impl FnMut(&Interpreter) -> bool) {
        self.interpreters.retain(|_, interpreter| keep(interpreter));
    }

    /// The limits class of a language's runs.
    #[must_use]
    pub fn limits_class(&self, language: Option<&LanguageKey>) -> &LimitsClass {
        language.and_then(|language| self.runtime_limits.get(language)).unwrap_or(&self.standard)
    }

    /// The values of a class.
    #[must_use]
    pub fn limits(&self, class: &LimitsClass) -> Limits {
        self.limits_classes.get(class).cloned().unwrap_or_default()
    }

    /// The effective time-out: the call's over the script's over the default, clamped to 1 s … the
    /// longest.
    #[must_use]
    pub fn timeout(&self, asked: Option<i64>, declared: Option<u32>) -> Duration {
        let wanted = asked
            .or_else(|| declared.map(i64::from))
            .map_or(self.timeout_default, |seconds| Duration::from_secs(u64::try_from(seconds).unwrap_or(0)));
        wanted.clamp(Duration::from_secs(1), self.timeout_max.max(Duration::from_secs(1)))
    }

    /// The cap of each output stream.
    #[must_use]
    pub const fn max_output_bytes(&self) -> usize {
        self.max_output_bytes
    }

    /// The largest arguments.
    #[must_use]
    pub const fn max_argument_bytes(&self) -> usize {
        self.max_argument_bytes
    }

    /// The largest script.
    #[must_use]
    pub const fn max_script_bytes(&self) -> usize {
        self.max_script_bytes
    }

    /// Runs of one tenant at once.
    #[must_use]
    pub const fn max_concurrent_per_tenant(&self) -> usize {
        self.max_concurrent_per_tenant
    }

    /// Runs at once.
    #[must_use]
    pub const fn max_concurrent_total(&self) -> usize {
        self.max_concurrent_total
    }

    /// The longest wait for a slot.
    #[must_use]
    pub const fn slot_wait(&self) -> Duration {
        self.slot_wait
    }

    /// Folders of file skills.
    #[must_use]
    pub fn skill_roots(&self) -> &[PathBuf] {
        &self.skill_roots
    }

    /// Whether a grant for a script of a file skill must be at the pin of what would run.
    #[must_use]
    pub const fn pin_file_scripts(&self) -> bool {
        self.pin_file_scripts
    }

    /// What the executor's report must say.
    #[must_use]
    pub const fn require(&self) -> &Requirement {
        &self.require
    }

    /// Whether several tenants share this service.
    #[must_use]
    pub const fn multi_tenant(&self) -> bool {
        self.multi_tenant
    }
}
