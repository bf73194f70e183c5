//! The isolation report of an executor that isolates nothing.

use std::collections::BTreeMap;

use belljar_executor::{Control, Finding, Report, RuntimeName};

/// Every control is missing. Nothing had to be tried to know it: the executor sets none of them up.
pub(super) fn of(runtimes: BTreeMap<RuntimeName, String>) -> Report {
    let finding = |control: &Control| Finding::missing(detail(*control)).with_remedy("use an executor that isolates");
    Report {
        driver: Some(concat!("local ", env!("CARGO_PKG_VERSION")).to_owned()),
        controls: Control::ALL.iter().map(|control| (*control, finding(control))).collect(),
        runtimes: Some(runtimes),
    }
}

fn detail(control: Control) -> &'static str {
    match control {
        Control::Identity
        | Control::SupplementaryGroups
        | Control::Capabilities
        | Control::NoNewPrivileges
        | Control::UserNamespace
        | Control::NestedNamespaces => "by design: the script has the service's own identity and rights",
        Control::MountNamespace | Control::Files | Control::Devices | Control::Landlock => {
            "by design: the script reads and writes whatever the service may, its own skill too"
        }
        Control::PidNamespace | Control::IpcNamespace | Control::UtsNamespace | Control::CgroupNamespace => {
            "by design: the script shares every namespace of the service"
        }
        Control::Network => "by design: the script has the network of the host",
        Control::Seccomp => "by design: no system call is filtered",
        Control::Disk | Control::Memory | Control::Tasks | Control::Cpu | Control::ResourceLimits => {
            "by design: no limit of the class is set; the time-out and the output cap are all there is"
        }
        Control::Secrets => {
            "no variable and no descriptor of the service is passed on, but the script may read the service's memory and files"
        }
        Control::Init => {
            "the shepherd has the script's own identity: a script can kill it, which is a fault of the run"
        }
        Control::Ending => {
            "a shepherd leaves no process of a run, but only as long as the script does not kill the shepherd"
        }
    }
}
