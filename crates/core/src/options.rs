//! The options of the run, in two stages: a draft that may say anything, and checked options that can
//! no longer be wrong.

use std::collections::BTreeMap;
use std::time::Duration;

use belljar_executor::{Interpreter, LanguageKey, Limits, LimitsClass, Requirement};

/// The longest time-out and the longest wait for a slot, seconds: one day.
const LONGEST_SECONDS: u64 = 86_400;

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
            require: Requirement::default(),
            unknown_runtimes: UnknownRuntimes::default(),
            multi_tenant: false,
        }
    }
}

/// Checked options.
#[derive(Clone, Debug)]
pub struct Options {
    enabled: bool,
    allow_stored_scripts: bool,
    interpreters: BTreeMap<LanguageKey, Interpreter>,
    timeout_default: Duration,
    timeout_max: Duration,
    max_output_bytes: usize,
    max_argument_bytes: usize,
    max_script_bytes: usize,
    max_concurrent_per_tenant: usize,
    max_concurrent_total: usize,
    slot_wait: Duration,
    limits_classes: BTreeMap<LimitsClass, Limits>,
    runtime_limits: BTreeMap<LanguageKey, LimitsClass>,
    standard: LimitsClass,
    require: Requirement,
    multi_tenant: bool,
}

impl OptionsDraft {
    /// Checks everything. While scripts are off nothing that concerns them is checked.
    ///
    /// # Errors
    /// All faults, one sentence each.
    pub fn check(self) -> Result<Options, Vec<String>> {
        let mut faults = Vec::new();
        if self.enabled {
            self.check_numbers(&mut faults);
            if !self.platform_isolation_acknowledged {
                faults.push(
                    "platform_isolation_acknowledged must be true: isolation cannot be verified from outside, so somebody \
                     must answer for it"
                        .to_owned(),
                );
            }
        }
        let interpreters = check_interpreters(&self.interpreters, &mut faults);
        let (limits_classes, standard) = check_classes(&self.limits_classes, &mut faults);
        let runtime_limits = check_runtime_limits(&self.runtime_limits, &limits_classes, &mut faults);
        if !self.enabled {
            faults.clear();
        }
        let Some(standard) = standard.filter(|_| faults.is_empty()) else { return Err(faults) };
        Ok(Options {
            enabled: self.enabled,
            allow_stored_scripts: self.allow_stored_scripts,
            interpreters,
            timeout_default: Duration::from_secs(self.timeout_default_seconds),
            timeout_max: Duration::from_secs(self.timeout_max_seconds),
            max_output_bytes: to_usize(self.max_output_bytes),
            max_argument_bytes: to_usize(self.max_argument_bytes),
            max_script_bytes: to_usize(self.max_script_bytes),
            max_concurrent_per_tenant: self.max_concurrent_per_tenant as usize,
            max_concurrent_total: self.max_concurrent_total as usize,
            slot_wait: Duration::from_secs(self.slot_wait_seconds),
            limits_classes,
            runtime_limits,
            standard,
            require: self.require,
            multi_tenant: self.multi_tenant,
        })
    }

    fn check_numbers(&self, faults: &mut Vec<String>) {
        let positive = [
            ("timeout.default", self.timeout_default_seconds),
            ("timeout.max", self.timeout_max_seconds),
            ("max_output_bytes", self.max_output_bytes),
            ("max_argument_bytes", self.max_argument_bytes),
            ("max_script_bytes", self.max_script_bytes),
            ("max_concurrent_per_tenant", self.max_concurrent_per_tenant.into()),
            ("max_concurrent_total", self.max_concurrent_total.into()),
        ];
        faults.extend(
            positive.iter().filter(|(_, value)| *value == 0).map(|(name, _)| format!("{name} must be at least 1")),
        );
        if self.max_concurrent_per_tenant > self.max_concurrent_total {
            faults.push(format!(
                "max_concurrent_per_tenant ({}) must not be above max_concurrent_total ({})",
                self.max_concurrent_per_tenant, self.max_concurrent_total
            ));
        }
        for (name, seconds) in
            [("timeout.max", self.timeout_max_seconds), ("slot_wait_seconds", self.slot_wait_seconds)]
        {
            if seconds > LONGEST_SECONDS {
                faults.push(format!("{name} ({seconds} s) must not be above {LONGEST_SECONDS} s, one day"));
            }
        }
        if self.timeout_default_seconds > self.timeout_max_seconds {
            faults.push(format!(
                "timeout.default ({} s) must not be above timeout.max ({} s)",
                self.timeout_default_seconds, self.timeout_max_seconds
            ));
        }
    }
}

fn to_usize(value: u64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}

fn check_interpreters(
    written: &BTreeMap<String, String>,
    faults: &mut Vec<String>,
) -> BTreeMap<LanguageKey, Interpreter> {
    let mut checked = BTreeMap::new();
    for (key, value) in written {
        let parsed =
            LanguageKey::parse(key).map_err(|error| format!("interpreters.{key}: {error}")).and_then(|language| {
                let interpreter =
                    Interpreter::parse(value).map_err(|error| format!("interpreters.{key} = {value:?}: {error}"))?;
                Ok((language, interpreter))
            });
        match parsed {
            Ok((language, interpreter)) => drop(checked.insert(language, interpreter)),
            Err(fault) => faults.push(fault),
        }
    }
    checked
}

fn check_classes(
    written: &BTreeMap<String, Limits>,
    faults: &mut Vec<String>,
) -> (BTreeMap<LimitsClass, Limits>, Option<LimitsClass>) {
    let mut checked = BTreeMap::new();
    let standard = LimitsClass::parse("standard").ok();
    if let Some(name) = &standard {
        checked.insert(name.clone(), Limits::default());
    }
    for (name, limits) in written {
        match LimitsClass::parse(name) {
            Ok(class) => {
                check_limits(name, limits, faults);
                checked.insert(class, limits.clone());
            }
            Err(error) => faults.push(format!("limits.{name}: {error}")),
        }
    }
    (checked, standard)
}

fn check_limits(class: &str, limits: &Limits, faults: &mut Vec<String>) {
    let values = [
        ("memory_bytes", limits.memory_bytes),
        ("tasks", limits.tasks.into()),
        ("cpu_millicores", limits.cpu_millicores.into()),
        ("workspace_bytes", limits.workspace_bytes),
        ("workspace_inodes", limits.workspace_inodes.into()),
        ("temp_bytes", limits.temp_bytes),
        ("temp_inodes", limits.temp_inodes.into()),
        ("shared_memory_bytes", limits.shared_memory_bytes),
        ("descriptors", limits.descriptors.into()),
        ("file_bytes", limits.file_bytes),
    ];
    let zero = values.iter().filter(|(_, value)| *value == 0);
    faults.extend(zero.map(|(name, _)| format!("limits.{class}.{name} must be at least 1")));
}

fn check_runtime_limits(
    written: &BTreeMap<String, String>,
    classes: &BTreeMap<LimitsClass, Limits>,
    faults: &mut Vec<String>,
) -> BTreeMap<LanguageKey, LimitsClass> {
    let mut checked = BTreeMap::new();
    for (key, name) in written {
        let class = LimitsClass::parse(name).ok().filter(|class| classes.contains_key(class));
        match (LanguageKey::parse(key), class) {
            (Ok(language), Some(class)) => drop(checked.insert(language, class)),
            (Err(error), _) => faults.push(format!("runtimes.{key}: {error}")),
            (_, None) => faults.push(format!("runtimes.{key}.limits = {name:?}: no limits class has this name")),
        }
    }
    checked
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
