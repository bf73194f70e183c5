//! What a host demands of an isolation report, per control.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Control, Report, State};

/// The least state that is accepted for one control.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Minimum {
    /// It may be missing.
    Missing,
    /// A weaker form will do.
    Weaker,
    /// It must hold as specified.
    Enforced,
}

impl Minimum {
    const fn is_met_by(self, state: State) -> bool {
        match self {
            Self::Missing => !matches!(state, State::Unknown),
            Self::Weaker => matches!(state, State::Weaker | State::Enforced),
            Self::Enforced => matches!(state, State::Enforced),
        }
    }

    /// The word used in configuration.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Weaker => "weaker",
            Self::Enforced => "enforced",
        }
    }
}

/// What a host demands of a report, per control.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Requirement {
    controls: BTreeMap<Control, Minimum>,
    accepts_unknown: bool,
}

impl Default for Requirement {
    /// Every control enforced, except that memory, tasks, CPU and supplementary groups may be weaker
    /// and Landlock may be missing. Until something else is set, a report that says nothing at all
    /// (a stranger's executor) is accepted.
    fn default() -> Self {
        let controls = Control::ALL.iter().map(|control| (*control, Self::default_minimum(*control))).collect();
        Self { controls, accepts_unknown: true }
    }
}

impl Requirement {
    const fn default_minimum(control: Control) -> Minimum {
        match control {
            Control::Memory | Control::Tasks | Control::Cpu | Control::SupplementaryGroups => Minimum::Weaker,
            Control::Landlock => Minimum::Missing,
            _ => Minimum::Enforced,
        }
    }

    /// The default with these minimums instead. Setting any makes an unknown control a shortfall.
    #[must_use]
    pub fn with(minimums: &BTreeMap<Control, Minimum>) -> Self {
        let mut controls = Self::default().controls;
        controls.extend(minimums);
        Self { controls, accepts_unknown: minimums.is_empty() }
    }

    /// These minimums and nothing else: for an executor that is known to isolate nothing.
    #[must_use]
    pub fn only(minimums: &BTreeMap<Control, Minimum>) -> Self {
        let mut controls: BTreeMap<_, _> = Control::ALL.iter().map(|control| (*control, Minimum::Missing)).collect();
        controls.extend(minimums);
        Self { controls, accepts_unknown: minimums.is_empty() }
    }

    /// The minimum for one control.
    #[must_use]
    pub fn minimum(&self, control: Control) -> Minimum {
        self.controls.get(&control).copied().unwrap_or(Minimum::Enforced)
    }

    /// Where a report falls short.
    #[must_use]
    pub fn shortfalls(&self, report: &Report) -> Vec<Shortfall> {
        if self.accepts_unknown && report.controls.is_empty() {
            return Vec::new();
        }
        Control::ALL
            .iter()
            .filter(|control| !self.minimum(**control).is_met_by(report.state(**control)))
            .map(|control| Shortfall {
                control: *control,
                minimum: self.minimum(*control),
                found: report.state(*control),
                detail: report.controls.get(control).map_or_else(String::new, |finding| finding.detail.clone()),
                remedy: report.controls.get(control).and_then(|finding| finding.remedy.clone()),
            })
            .collect()
    }
}

/// A control that is less than demanded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Shortfall {
    /// Which control.
    pub control: Control,
    /// What is demanded.
    pub minimum: Minimum,
    /// What was found.
    pub found: State,
    /// What exactly was found.
    pub detail: String,
    /// How to mend it, when there is a way.
    pub remedy: Option<String>,
}

impl fmt::Display for Shortfall {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { control, minimum, found, detail, .. } = self;
        write!(formatter, "{control} is {} where {} is required", found.as_str(), minimum.as_str())?;
        if !detail.is_empty() {
            write!(formatter, ": {detail}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Finding;

    fn full(change: &[(Control, Finding)]) -> Report {
        let mut report = Report::unknown();
        report.controls = Control::ALL.iter().map(|control| (*control, Finding::enforced("by test"))).collect();
        report.controls.extend(change.iter().cloned());
        report
    }

    #[test]
    fn the_default_accepts_what_the_specification_lets_be_weaker_and_nothing_else() {
        let requirement = Requirement::default();
        for control in Control::ALL {
            let weaker = !requirement.shortfalls(&full(&[(*control, Finding::weaker("x"))])).is_empty();
            let missing = !requirement.shortfalls(&full(&[(*control, Finding::missing("x"))])).is_empty();
            let may_be_weaker =
                ["memory", "tasks", "cpu", "supplementary_groups", "landlock"].contains(&control.as_str());
            assert_eq!(weaker, !may_be_weaker, "{control}");
            assert_eq!(missing, *control != Control::Landlock, "{control}");
        }
    }

    #[test]
    fn with_nothing_demanded_everything_may_be_missing_but_what_is_named() {
        let nothing: Vec<_> = Control::ALL.iter().map(|control| (*control, Finding::missing("x"))).collect();
        let nothing = full(&nothing);
        assert!(Requirement::only(&BTreeMap::new()).shortfalls(&nothing).is_empty());
        let memory = Requirement::only(&BTreeMap::from([(Control::Memory, Minimum::Weaker)]));
        let shortfalls = memory.shortfalls(&nothing);
        assert_eq!(shortfalls.iter().map(|shortfall| shortfall.control).collect::<Vec<_>>(), [Control::Memory]);
        assert!(!nothing.isolates() && full(&[]).isolates() && !Report::unknown().isolates());
    }

    #[test]
    fn an_unknown_report_is_accepted_only_while_nothing_is_demanded() {
        assert!(Requirement::default().shortfalls(&Report::unknown()).is_empty());
        let demanding = Requirement::with(&BTreeMap::from([(Control::Memory, Minimum::Enforced)]));
        assert_eq!(demanding.shortfalls(&Report::unknown()).len(), Control::ALL.len());
    }
}
