//! The findings of a real probe, and what becomes of them when one fact is a bad one.

use std::time::Duration;

use belljar_executor::{Cancel, Limits, Requirement, State};

use super::*;
use crate::driver::{Driver, DriverOptions};
use crate::job::Job;
use crate::policy::Policy;
use crate::{probe, sandboxed};

/// What the self-probe prints here, and what is expected of it.
async fn real_facts() -> (String, Expected) {
    let driver = Driver::open(&DriverOptions::default()).unwrap();
    let job = Job::self_probe(Limits::default(), Duration::from_secs(10));
    let (_, output) = sandboxed::run(&driver, &job, &Cancel::new()).await.unwrap();
    (String::from_utf8(output).unwrap(), probe::expected(&driver, &job))
}

/// The controls that are missing, but for the one that is not there yet.
fn missing(text: &str, expected: &Expected) -> Vec<Control> {
    let found = of(&Facts::parse(text.as_bytes()), expected);
    let missing = found.iter().filter(|(_, finding)| finding.state == State::Missing).map(|(control, _)| *control);
    missing.filter(|control| *control != Control::Landlock).collect()
}

fn with(text: &str, key: &str, value: &str) -> String {
    let mut found = false;
    let lines = text.lines().map(|line| match line.split_once('=') {
        Some((name, _)) if name == key => {
            found = true;
            format!("{key}={value}")
        }
        _ => line.to_owned(),
    });
    let changed = lines.collect::<Vec<_>>().join("\n");
    assert!(found, "the probe does not tell {key}");
    changed
}

#[tokio::test]
async fn each_bad_fact_takes_its_control_down_and_no_other() {
    use Control as C;

    let (text, expected) = real_facts().await;
    assert_eq!(missing(&text, &expected), []);
    let outside = |name: &str| expected.namespaces[name].clone();
    let open = "0";
    let bad: Vec<(&str, String, Control)> = vec![
        ("status.Uid", "0,0,0,0".into(), C::Identity),
        ("uid_map", "65534 0 1".into(), C::Identity),
        ("status.CapBnd", "000001ffffffffff".into(), C::Capabilities),
        ("status.CapAmb", "0000000000200000".into(), C::Capabilities),
        ("status.NoNewPrivs", "0".into(), C::NoNewPrivileges),
        ("namespace.user", outside("user"), C::UserNamespace),
        ("max_user_namespaces", "100".into(), C::NestedNamespaces),
        ("namespace.mnt", outside("mnt"), C::MountNamespace),
        ("mount", "1 2 0:3 /home /home ro - ext4 /dev/x rw".into(), C::MountNamespace),
        ("namespace.pid", outside("pid"), C::PidNamespace),
        ("processes", "1,2,99".into(), C::PidNamespace),
        ("namespace.net", outside("net"), C::Network),
        ("interfaces", "lo,eth0".into(), C::Network),
        ("connect_outside", open.into(), C::Network),
        ("namespace.ipc", outside("ipc"), C::IpcNamespace),
        ("hostname", "host".into(), C::UtsNamespace),
        ("cgroup", "0::/system.slice".into(), C::CgroupNamespace),
        ("write./usr", open.into(), C::Files),
        ("write./skill", open.into(), C::Files),
        ("root", "bin,home,usr".into(), C::Files),
        ("bytes./tmp", "999999999999".into(), C::Disk),
        ("inodes./workspace", "999999".into(), C::Disk),
        ("devices", "null,sda".into(), C::Devices),
        ("status.Seccomp", "0".into(), C::Seccomp),
        ("call.bpf", "22".into(), C::Seccomp),
        ("call.unknown_number", "1".into(), C::Seccomp),
        ("read./proc/1/environ", open.into(), C::Secrets),
        ("descriptors", "5".into(), C::Secrets),
        ("variables", "HOME,SECRET".into(), C::Secrets),
        ("command_line", "bwrap\0--setenv\0SECRET".into(), C::Secrets),
        ("write./proc/1/mem", open.into(), C::Init),
        ("parent", "0".into(), C::Init),
        ("parent_death_signal", "0".into(), C::Ending),
    ];
    for (key, value, control) in bad {
        assert_eq!(missing(&with(&text, key, &value), &expected), [control], "{key}={value}");
    }
    let untold: String =
        text.lines().filter(|line| !line.starts_with("call.keyctl=")).flat_map(|line| [line, "\n"]).collect();
    assert_eq!(missing(&untold, &expected), [C::Seccomp]);
    let twice = format!("{text}\nhostname=belljar");
    assert_eq!(missing(&twice, &expected), [C::UtsNamespace], "a fact that is told twice is not to be believed");
}

#[tokio::test]
async fn every_rlimit_is_compared() {
    let (text, expected) = real_facts().await;
    for limit in &expected.limits {
        let key = format!("rlimit.{}", limit.resource);
        assert!(missing(&with(&text, &key, "1,2"), &expected).contains(&Control::ResourceLimits), "{key}");
    }
}

#[test]
fn a_probe_that_says_nothing_confirms_nothing() {
    let expected = Expected {
        namespaces: BTreeMap::new(),
        further_groups: 0,
        is_root: false,
        writable: Policy::writable(&Limits::default()),
        limits: Policy::resource_limits(&Limits::default(), 1),
        variables: String::new(),
        views: Vec::new(),
    };
    let found = of(&Facts::default(), &expected);
    assert!(found.values().all(|finding| finding.state == State::Missing), "{found:#?}");
    assert_eq!(found.len(), Control::ALL.len());
    assert!(Requirement::default().minimum(Control::Seccomp) > belljar_executor::Minimum::Weaker);
}
