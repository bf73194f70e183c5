//! What can go wrong with a run, and the words for a host on which nothing can run.

use std::fs;

use belljar_executor::{Cause, Control, Unavailable};
use belljar_init::status::Stage;

/// A run that gave no result.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The isolation cannot be had.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    /// The caller cancelled, and nothing of the run is left.
    #[error("cancelled")]
    Cancelled,
    /// A fault of ours, or a request that cannot be run as it stands.
    #[error("{0}")]
    Fault(String),
}

impl RunError {
    /// A fault of ours, in the words of the kernel.
    pub(crate) fn io(what: &str) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.to_owned();
        move |error| Self::Fault(format!("{what}: {error}"))
    }

    /// A first-stage failure: of the request when its files or its program cannot be had, else of the host.
    pub(crate) fn stage(stage: Stage, errno: i32) -> Self {
        match stage {
            Stage::Order | Stage::Folder | Stage::Link | Stage::File | Stage::StartFolder | Stage::Exec => {
                Self::fault_of_stage(stage, errno)
            }
            _ => Self::Unavailable(host_refuses(&words_of(stage, errno), control_of(stage))),
        }
    }

    /// A failure of `init` that says nothing about the host.
    pub(crate) fn fault_of_stage(stage: Stage, errno: i32) -> Self {
        Self::Fault(words_of(stage, errno))
    }
}

fn words_of(stage: Stage, errno: i32) -> String {
    format!("{} failed: {}", stage.meaning(), std::io::Error::from_raw_os_error(errno))
}

const fn control_of(stage: Stage) -> Option<Control> {
    match stage {
        Stage::Mount => Some(Control::Disk),
        Stage::Seal => Some(Control::Files),
        Stage::Namespaces => Some(Control::NestedNamespaces),
        Stage::Capabilities => Some(Control::Capabilities),
        Stage::NoNewPrivileges => Some(Control::NoNewPrivileges),
        Stage::Dumpable => Some(Control::Init),
        Stage::ParentDeath | Stage::Descriptor => Some(Control::Ending),
        Stage::ResourceLimits => Some(Control::ResourceLimits),
        Stage::Seccomp => Some(Control::Seccomp),
        _ => None,
    }
}

/// Something of ours that this host does not have.
pub(crate) fn unavailable(
    cause: Cause,
    control: Option<Control>,
    message: impl Into<String>,
    remedy: impl Into<String>,
) -> Unavailable {
    Unavailable { cause, control, message: message.into(), remedy: remedy.into() }
}

/// Says why the launcher could not make a sandbox, from its words and the kernel's settings.
pub(crate) fn host_refuses(message: &str, control: Option<Control>) -> Unavailable {
    let setting = |path: &str| fs::read_to_string(path).map(|text| text.trim().to_owned()).unwrap_or_default();
    let filtered = setting("/proc/self/status").lines().any(|line| line.split_whitespace().eq(["Seccomp:", "2"]));
    let facts = Settings {
        apparmor: setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"),
        namespaces: setting("/proc/sys/user/max_user_namespaces"),
        clone: setting("/proc/sys/kernel/unprivileged_userns_clone"),
        filtered,
    };
    facts.explain(message, control)
}

/// Settings of the kernel that decide whether a sandbox can be made.
#[derive(Debug)]
struct Settings {
    apparmor: String,
    namespaces: String,
    clone: String,
    filtered: bool,
}

impl Settings {
    fn explain(&self, message: &str, control: Option<Control>) -> Unavailable {
        let user_namespace = control.or(Some(Control::UserNamespace));
        if self.namespaces == "0" {
            let remedy = "sudo sysctl -w user.max_user_namespaces=15000";
            return unavailable(
                Cause::Sysctl,
                user_namespace,
                format!("{message} (user.max_user_namespaces is 0)"),
                remedy,
            );
        }
        if self.clone == "0" {
            let remedy = "sudo sysctl -w kernel.unprivileged_userns_clone=1";
            let message = format!("{message} (kernel.unprivileged_userns_clone is 0)");
            return unavailable(Cause::Sysctl, user_namespace, message, remedy);
        }
        if self.apparmor == "1" {
            let remedy = "install an AppArmor profile that lets bwrap make user namespaces, or: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0";
            let message = format!("{message} (AppArmor restricts unprivileged user namespaces)");
            return unavailable(Cause::Apparmor, user_namespace, message, remedy);
        }
        if self.filtered {
            let remedy = "start the container with a seccomp profile that allows user namespaces and mounts, for example --security-opt seccomp=unconfined";
            let message = format!("{message} (a system call filter is in force for this process)");
            return unavailable(Cause::ContainerSeccomp, user_namespace, message, remedy);
        }
        let remedy = "run `belljar doctor` on this host for every control that is missing";
        unavailable(Cause::Other, control, message, remedy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(apparmor: &str, namespaces: &str, clone: &str, filtered: bool) -> Settings {
        Settings { apparmor: apparmor.into(), namespaces: namespaces.into(), clone: clone.into(), filtered }
    }

    #[test]
    fn the_cause_is_named_with_the_command_that_mends_it() {
        for (settings, cause, command) in [
            (settings("", "0", "", false), Cause::Sysctl, "user.max_user_namespaces"),
            (settings("", "100", "0", false), Cause::Sysctl, "unprivileged_userns_clone=1"),
            (settings("1", "100", "1", false), Cause::Apparmor, "apparmor_restrict"),
            (settings("0", "100", "1", true), Cause::ContainerSeccomp, "seccomp"),
            (settings("0", "100", "", false), Cause::Other, "doctor"),
        ] {
            let found = settings.explain("no sandbox", None);
            assert_eq!(found.cause, cause);
            assert!(found.remedy.contains(command), "{found:?}");
            assert!(found.message.starts_with("no sandbox"));
        }
    }

    #[test]
    fn a_missing_interpreter_is_a_fault_of_the_request_and_a_missing_wall_is_not() {
        assert!(matches!(RunError::stage(Stage::Exec, 2), RunError::Fault(_)));
        let RunError::Unavailable(found) = RunError::stage(Stage::Seccomp, 22) else { panic!("not a fault") };
        assert_eq!(found.control, Some(Control::Seccomp));
    }
}
