//! From a draft to checked options: everything that is wrong, at once.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use belljar_executor::{Interpreter, LanguageKey, Limits, LimitsClass};

use super::{Options, OptionsDraft};
use crate::visible::visible;

/// The longest time-out and the longest wait for a slot, seconds: one day.
const LONGEST_SECONDS: u64 = 86_400;

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
        check_roots(&self.skill_roots, &mut faults);
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
            skill_roots: self.skill_roots,
            pin_file_scripts: self.pin_file_scripts,
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

fn check_roots(roots: &[PathBuf], faults: &mut Vec<String>) {
    for root in roots {
        let shown = visible(&root.display().to_string());
        if !root.is_absolute() {
            faults.push(format!("skills.roots: `{shown}` is not an absolute path"));
        } else if let Err(error) = std::fs::read_dir(root) {
            faults.push(format!("skills.roots: the folder `{shown}` cannot be read: {error}"));
        }
    }
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
