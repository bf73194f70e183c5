//! From the facts of a probe to a finding for each control. What the probe could not confirm is missing.

use std::collections::BTreeMap;

use belljar_executor::{Control, Finding};

use crate::arguments::{DEVICE_LINKS, DEVICES, HOSTNAME, INSIDE_ID};
use crate::places::{RUNTIME, SKILL};
use crate::probe::{Expected, Facts};

const READ_ONLY: [&str; 8] = ["/", "/usr", "/skill", "/etc", "/dev", "/runtime", "/runtime/bin", "/proc"];
const ROOT: &str = "bin,dev,etc,lib,lib32,lib64,libx32,proc,runtime,sbin,skill,tmp,usr,workspace";
const UNKNOWN_CALLS: [&str; 5] = ["clone3", "io_uring_setup", "shmget", "unknown_number", "x32_number"];
// Everything that the self-probe tries; on x86-64 one more, the x32 number.
const LEAST_CALLS: usize = 54 + cfg!(target_arch = "x86_64") as usize;

/// One finding for every control.
pub(crate) fn of(facts: &Facts, expected: &Expected) -> BTreeMap<Control, Finding> {
    Control::ALL.iter().map(|control| (*control, finding(*control, facts, expected))).collect()
}

fn finding(control: Control, facts: &Facts, expected: &Expected) -> Finding {
    match control {
        Control::Identity => identity(facts, expected),
        Control::SupplementaryGroups => supplementary_groups(facts, expected),
        Control::Capabilities => capabilities(facts),
        Control::NoNewPrivileges => held(facts.is("status.NoNewPrivs", "1"), "set, read back inside"),
        Control::UserNamespace => namespace("user", facts, expected, true, "its own"),
        Control::NestedNamespaces => {
            let none = facts.is("max_user_namespaces", "0") && facts.refused("call.unshare_user");
            held(none && facts.refused("call.clone_newuser"), "limit of 0 in the namespace, and refused by the filter")
        }
        Control::MountNamespace => mounts(facts, expected),
        Control::PidNamespace => {
            let pid = facts.one("pid").unwrap_or_default();
            let alone = facts.is("processes", &format!("1,{pid}")) && pid != "1";
            namespace("pid", facts, expected, alone, "its own, with two processes in it")
        }
        Control::Network => network(facts, expected),
        Control::IpcNamespace => namespace("ipc", facts, expected, true, "its own"),
        Control::UtsNamespace => namespace("uts", facts, expected, facts.is("hostname", HOSTNAME), "its own host name"),
        Control::CgroupNamespace => {
            let hidden =
                facts.one("cgroup").is_some_and(|text| text.split_whitespace().all(|line| line.ends_with(":/")));
            namespace("cgroup", facts, expected, hidden, "its own, without the names above it")
        }
        Control::Files => files(facts),
        Control::Disk => disk(facts, expected),
        Control::Devices => devices(facts),
        Control::Seccomp => seccomp(facts),
        Control::Landlock => Finding::missing("not applied yet"),
        Control::Memory => weaker(
            has_limit(libc::RLIMIT_DATA, facts, expected),
            "private data of each process by rlimit, read back; pid 1 also adds up the run every 20 ms, which the probe does not try",
        ),
        Control::Tasks => {
            weaker(has_limit(libc::RLIMIT_NPROC, facts, expected), "an rlimit in the user namespace of the run")
        }
        Control::Cpu => {
            weaker(has_limit(libc::RLIMIT_CPU, facts, expected), "processor time only, per process (rlimits)")
        }
        Control::ResourceLimits => {
            let all = expected.limits.iter().all(|limit| is_in_force(limit.resource, facts, expected));
            held(all, "every rlimit, read back inside")
        }
        Control::Secrets => secrets(facts, expected),
        Control::Init => init(facts),
        Control::Ending => {
            let armed = facts.is("parent_death_signal", "9");
            held(armed, "pid 1 was seen to be gone before the result; parent-death signals are armed")
        }
    }
}

fn held(holds: bool, detail: &str) -> Finding {
    if holds { Finding::enforced(detail) } else { Finding::missing(format!("not confirmed: {detail}")) }
}

fn weaker(holds: bool, detail: &str) -> Finding {
    if holds { Finding::weaker(detail) } else { Finding::missing(format!("not confirmed: {detail}")) }
}

fn namespace(name: &str, facts: &Facts, expected: &Expected, also: bool, detail: &str) -> Finding {
    let inside = facts.one(&format!("namespace.{name}")).filter(|link| link.starts_with(name));
    let outside = expected.namespaces.get(name);
    held(also && inside.is_some() && outside.is_some() && inside != outside.map(String::as_str), detail)
}

fn identity(facts: &Facts, expected: &Expected) -> Finding {
    let four = [INSIDE_ID; 4].join(",");
    let inside = facts.is("status.Uid", &four) && facts.is("status.Gid", &four);
    let outside = |map: &str| {
        let text = facts.one(map)?;
        let words: Vec<&str> = text.split_whitespace().collect();
        let [from, to, "1"] = words[..] else { return None };
        (from == INSIDE_ID && to != "0").then(|| to.to_owned())
    };
    match (outside("uid_map"), outside("gid_map")) {
        (Some(uid), Some(_)) if inside => {
            let whose = if expected.is_root { "a uid of its own" } else { "the service's own uid" };
            Finding::enforced(format!("{INSIDE_ID} inside, {uid} outside: {whose}"))
        }
        _ => Finding::missing("not confirmed: an unprivileged uid inside and outside"),
    }
}

fn supplementary_groups(facts: &Facts, expected: &Expected) -> Finding {
    match facts.one("status.Groups") {
        Some("") => Finding::enforced("none"),
        Some(_) if !expected.is_root && expected.further_groups == 0 => Finding::enforced("none but the user's own"),
        Some(_) if !expected.is_root => Finding::weaker(format!(
            "the service's user is in {} further groups, which an ordinary user cannot give up",
            expected.further_groups
        ))
        .with_remedy("run the service as a user without further groups, or as root"),
        _ => Finding::missing("the groups of the service are still there"),
    }
}

fn capabilities(facts: &Facts) -> Finding {
    let empty = |set| {
        let text = facts.one(&format!("status.{set}"));
        text.is_some_and(|text| !text.is_empty() && text.bytes().all(|digit| digit == b'0'))
    };
    held(["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"].into_iter().all(empty), "all five sets are empty")
}

fn mounts(facts: &Facts, expected: &Expected) -> Finding {
    let lines = facts.all("mount");
    let known = |line: &String| {
        let words: Vec<&str> = line.split(' ').collect();
        let (Some(place), Some(options)) = (words.get(4), words.get(5)) else { return false };
        let writable = expected.writable.iter().any(|mount| mount.path == *place);
        let device = place.strip_prefix("/dev/").is_some_and(|name| DEVICES.contains(&name));
        let proc_part = *place == "/proc" || place.starts_with("/proc/");
        let view = expected.views.iter().any(|view| view == place);
        let read_only = options.split(',').any(|option| option == "ro");
        let sealed = read_only && ([&"/", &SKILL].contains(&place) || view);
        writable || device || proc_part || sealed
    };
    namespace(
        "mnt",
        facts,
        expected,
        !lines.is_empty() && lines.iter().all(known),
        "its own; every mount in it is one of the policy's",
    )
}

fn network(facts: &Facts, expected: &Expected) -> Finding {
    let empty = facts.is("interfaces", "lo") && facts.refused("connect_outside") && facts.is("connect_localhost", "0");
    namespace("net", facts, expected, empty, "its own loopback alone; an address outside is unreachable")
}

fn files(facts: &Facts) -> Finding {
    let root = facts.one("root").unwrap_or("?");
    let known = root.split(',').all(|name| ROOT.split(',').any(|allowed| allowed == name));
    let closed = READ_ONLY.iter().all(|folder| facts.refused(&format!("write.{folder}")));
    held(
        known && closed,
        &format!("no write to {} or {SKILL} or {RUNTIME}; only folders of the policy", "/, /usr, /etc"),
    )
}

fn disk(facts: &Facts, expected: &Expected) -> Finding {
    let sized = expected.writable.iter().all(|mount| {
        let at_most = |key: &str, most| {
            facts.number(&format!("{key}.{}", mount.path)).is_some_and(|found| found > 0 && found <= most)
        };
        // Sizes are rounded up to whole pages.
        let whole = mount.bytes.next_multiple_of(64 * 1024);
        facts.is(&format!("write.{}", mount.path), "0") && at_most("bytes", whole) && at_most("inodes", mount.inodes)
    });
    held(sized, "size and inode limit of each writable folder, read back inside")
}

fn devices(facts: &Facts) -> Finding {
    let allowed =
        |name: &str| name == "shm" || DEVICES.contains(&name) || DEVICE_LINKS.iter().any(|(link, _)| *link == name);
    let found = facts.one("devices").unwrap_or("?");
    held(found.split(',').all(allowed) && facts.refused("write./dev"), &format!("{found}; the folder is read-only"))
}

fn seccomp(facts: &Facts) -> Finding {
    let calls: Vec<_> = facts.with_prefix("call.").collect();
    let expected = |name: &str| if UNKNOWN_CALLS.contains(&name) { libc::ENOSYS } else { libc::EPERM };
    let granted: Vec<_> =
        calls.iter().filter(|(name, errno)| *errno != expected(name).to_string()).map(|(name, _)| *name).collect();
    if facts.is("status.Seccomp", "2") && calls.len() >= LEAST_CALLS && granted.is_empty() {
        return Finding::enforced(format!("{} denied calls were tried, and refused as written", calls.len()));
    }
    Finding::missing(format!("not confirmed: {} calls tried, wrong answers for: {}", calls.len(), granted.join(", ")))
}

fn secrets(facts: &Facts, expected: &Expected) -> Finding {
    let closed =
        facts.refused("read./proc/1/environ") && facts.refused("read./proc/1/fd") && facts.is("descriptors", "");
    let command_line = facts.one("command_line").unwrap_or("/");
    let plain = command_line.split('\0').filter(|word| !word.is_empty()).all(|word| {
        word.starts_with("/proc/self/fd/")
            || word == belljar_init::FIRST_STAGE
            || word.bytes().all(|byte| byte.is_ascii_digit())
    });
    held(
        closed && plain && facts.is("variables", &expected.variables),
        "only the policy's variables and the three standard descriptors; pid 1's are closed",
    )
}

fn init(facts: &Facts) -> Finding {
    let out_of_reach = facts.refused("write./proc/1/mem") && facts.is("call.ptrace", &libc::EPERM.to_string());
    held(
        out_of_reach && facts.is("parent", "1"),
        "it survived the signals that were tried; its memory, limits and priority are out of reach; it cannot be traced",
    )
}

fn has_limit(resource: impl TryInto<u32>, facts: &Facts, expected: &Expected) -> bool {
    resource.try_into().is_ok_and(|resource| is_in_force(resource, facts, expected))
}

fn is_in_force(resource: u32, facts: &Facts, expected: &Expected) -> bool {
    let limit = expected.limits.iter().find(|limit| limit.resource == resource);
    limit.is_some_and(|limit| facts.is(&format!("rlimit.{resource}"), &format!("{},{}", limit.soft, limit.hard)))
}

#[cfg(test)]
#[path = "findings_tests.rs"]
mod tests;
