//! Isolation as a report: per control what is enforced on this host.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::RuntimeName;

macro_rules! controls {
    ($($variant:ident = $name:literal, $meaning:literal;)*) => {
        /// One wall of a sandbox.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Control {
            $(#[doc = $meaning] $variant,)*
        }

        impl Control {
            /// All controls, in the order of the report.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The name used in configuration, reports and messages.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }

            /// What it means, in one sentence.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $meaning),* }
            }
        }
    };
}

controls! {
    Identity = "identity", "The script runs as an unprivileged user, never as root outside the sandbox.";
    SupplementaryGroups = "supplementary_groups", "The script is in no further group of the host.";
    Capabilities = "capabilities", "All capability sets are empty, bounding and ambient too.";
    NoNewPrivileges = "no_new_privileges", "No program can gain rights when it is started.";
    UserNamespace = "user_namespace", "A user namespace of its own.";
    NestedNamespaces = "nested_namespaces", "The script cannot make user namespaces.";
    MountNamespace = "mount_namespace", "A mount namespace of its own, without host paths.";
    PidNamespace = "pid_namespace", "The script sees only its own processes.";
    Network = "network", "An empty network namespace: only its own loopback.";
    IpcNamespace = "ipc_namespace", "System V and POSIX message objects of its own.";
    UtsNamespace = "uts_namespace", "A host name of its own.";
    CgroupNamespace = "cgroup_namespace", "A control group namespace of its own.";
    Files = "files", "The root, the runtime and the skill are read-only; nothing else of the host is there.";
    Disk = "disk", "Every writable folder has a size and an inode limit and lives in memory.";
    Devices = "devices", "Only harmless device nodes, in a read-only folder.";
    Seccomp = "seccomp", "A system call filter, checked by calling what it denies.";
    Landlock = "landlock", "Landlock scopes and file rules as a second fence.";
    Memory = "memory", "A memory limit for the whole run.";
    Tasks = "tasks", "A limit of processes and threads for the whole run.";
    Cpu = "cpu", "A processor limit for the whole run.";
    ResourceLimits = "resource_limits", "Per-process limits: core files, descriptors, file size, locked memory.";
    Secrets = "secrets", "The launcher's environment, command line and descriptors do not reach the script.";
    Init = "init", "The sandbox's first process is ours and out of the script's reach.";
    Ending = "ending", "Nothing of a run survives its end or the death of the service.";
}

impl fmt::Display for Control {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// How far a control holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Nobody looked: a stranger's executor.
    Unknown,
    /// Not there.
    Missing,
    /// There in a weaker form, which the finding names.
    Weaker,
    /// As specified.
    Enforced,
}

impl State {
    /// The word used in reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Missing => "missing",
            Self::Weaker => "weaker",
            Self::Enforced => "enforced",
        }
    }
}

/// What was found about one control.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// How far it holds.
    pub state: State,
    /// What exactly, and how that is known.
    pub detail: String,
    /// How to make it stronger on this host, when there is a way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

impl Finding {
    /// The control holds as specified; `detail` says how that is known.
    pub fn enforced(detail: impl Into<String>) -> Self {
        Self { state: State::Enforced, detail: detail.into(), remedy: None }
    }

    /// A weaker form holds, which `detail` names.
    pub fn weaker(detail: impl Into<String>) -> Self {
        Self { state: State::Weaker, detail: detail.into(), remedy: None }
    }

    /// It is not there; `detail` says why.
    pub fn missing(detail: impl Into<String>) -> Self {
        Self { state: State::Missing, detail: detail.into(), remedy: None }
    }

    /// Adds how to make it stronger.
    #[must_use]
    pub fn with_remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }
}

/// What an executor enforces on this host and which runtime names it knows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The driver and its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
    /// Findings by control; a control that is not here is unknown.
    pub controls: BTreeMap<Control, Finding>,
    /// Runtime names the executor can run, with where each was found. `None`: not known beforehand.
    #[serde(skip)]
    pub runtimes: Option<BTreeMap<RuntimeName, String>>,
}

impl Report {
    /// The report of an executor that says nothing about itself.
    #[must_use]
    pub fn unknown() -> Self {
        Self::default()
    }

    /// How far a control holds.
    #[must_use]
    pub fn state(&self, control: Control) -> State {
        self.controls.get(&control).map_or(State::Unknown, |finding| finding.state)
    }

    /// Whether anything at all is known to be enforced, be it weakly.
    #[must_use]
    pub fn isolates(&self) -> bool {
        self.controls.values().any(|finding| matches!(finding.state, State::Enforced | State::Weaker))
    }

    /// The controls in this state.
    #[must_use]
    pub fn in_state(&self, state: State) -> BTreeSet<Control> {
        Control::ALL.iter().copied().filter(|control| self.state(*control) == state).collect()
    }
}

/// Why an isolation cannot be had on this host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// A program is not installed.
    MissingProgram,
    /// A program is installed set-uid root, which widens what a bug in it can do.
    SetuidProgram,
    /// AppArmor denies unprivileged user namespaces.
    Apparmor,
    /// A kernel setting denies what is needed.
    Sysctl,
    /// The container this runs in filters system calls.
    ContainerSeccomp,
    /// A control is less than `isolation.require` demands.
    BelowMinimum,
    /// Something else; the message tells.
    Other,
}

impl Cause {
    /// The word used in messages.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::MissingProgram => "missing_program",
            Self::SetuidProgram => "setuid_program",
            Self::Apparmor => "apparmor",
            Self::Sysctl => "sysctl",
            Self::ContainerSeccomp => "container_seccomp",
            Self::BelowMinimum => "below_minimum",
            Self::Other => "other",
        }
    }
}

/// No sandbox on this host, with the cause and what mends it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize)]
#[error("{message}")]
pub struct Unavailable {
    /// The cause as a word.
    pub cause: Cause,
    /// The control that is missing, when it is one.
    pub control: Option<Control>,
    /// What happened.
    pub message: String,
    /// The command or setting that mends it.
    pub remedy: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_same_in_code_and_configuration() {
        for control in Control::ALL {
            assert_eq!(serde_json::to_value(control).unwrap(), control.as_str());
        }
    }
}
