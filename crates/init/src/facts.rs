//! The self-probe: checks its own sandbox from inside and prints what it found, one `key=value` a line.
//!
//! It only reports. What the facts mean is decided outside, where a wrong one cannot hide itself.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;

use crate::{calls, refused};

const READ_ONLY: [&str; 8] = ["/", "/usr", "/skill", "/etc", "/dev", "/runtime", "/runtime/bin", "/proc"];
const WRITABLE: [&str; 3] = ["/workspace", "/tmp", "/dev/shm"];
const NAMESPACES: [&str; 7] = ["user", "mnt", "pid", "net", "ipc", "uts", "cgroup"];
const STATUS_FIELDS: [&str; 10] =
    ["Uid", "Gid", "Groups", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp"];
const RESOURCES: u32 = 16;

struct Facts(Vec<u8>);

impl Facts {
    fn add(&mut self, key: &str, value: impl AsRef<[u8]>) {
        self.0.extend_from_slice(key.as_bytes());
        self.0.push(b'=');
        self.0.extend(value.as_ref().iter().map(|byte| if *byte == b'\n' { b' ' } else { *byte }));
        self.0.push(b'\n');
    }

    fn add_result<T>(&mut self, key: &str, result: io::Result<T>) {
        let errno = result.err().map_or(0, |error| error.raw_os_error().unwrap_or(-1));
        self.add(key, errno.to_string());
    }
}

/// Collects and prints all facts.
pub(crate) fn print() -> ExitCode {
    let mut facts = Facts(Vec::new());
    // First, so that descriptors opened for the other facts are not counted.
    descriptors(&mut facts);
    identity(&mut facts);
    namespaces(&mut facts);
    network(&mut facts);
    files(&mut facts);
    devices(&mut facts);
    limits(&mut facts);
    secrets(&mut facts);
    supervisor(&mut facts);
    for (name, errno) in refused::attempts() {
        facts.add(&format!("call.{name}"), errno.to_string());
    }
    // Last of all: whoever reads it knows that nothing above was cut short.
    facts.add("complete", "yes");
    match io::stdout().write_all(&facts.0) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn identity(facts: &mut Facts) {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    for line in status.lines() {
        if let Some((name, value)) = line.split_once(':')
            && STATUS_FIELDS.contains(&name)
        {
            facts.add(&format!("status.{name}"), value.split_whitespace().collect::<Vec<_>>().join(","));
        }
    }
    facts.add("pid", rustix::process::getpid().as_raw_nonzero().to_string());
    for map in ["uid_map", "gid_map"] {
        facts.add(map, fs::read_to_string(format!("/proc/self/{map}")).unwrap_or_default().trim());
    }
    facts.add("hostname", rustix::system::uname().nodename().to_bytes());
}

fn namespaces(facts: &mut Facts) {
    for name in NAMESPACES {
        let link = fs::read_link(format!("/proc/self/ns/{name}")).unwrap_or_default();
        facts.add(&format!("namespace.{name}"), link.as_os_str().as_bytes());
    }
    let allowed = fs::read_to_string("/proc/sys/user/max_user_namespaces").unwrap_or_default();
    facts.add("max_user_namespaces", allowed.trim());
    facts.add("cgroup", fs::read_to_string("/proc/self/cgroup").unwrap_or_default());
    let pids = names("/proc").into_iter().filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()));
    facts.add("processes", pids.collect::<Vec<_>>().join(","));
}

fn network(facts: &mut Facts) {
    let table = fs::read_to_string("/proc/net/dev").unwrap_or_default();
    let interfaces: Vec<&str> = table.lines().filter_map(|line| Some(line.split_once(':')?.0.trim())).collect();
    facts.add("interfaces", interfaces.join(","));
    // An address set aside for documentation: no route may exist, so nothing is sent.
    let outside = UdpSocket::bind("0.0.0.0:0").and_then(|socket| socket.connect("192.0.2.1:9"));
    facts.add_result("connect_outside", outside);
    let inside = TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| TcpStream::connect(listener.local_addr()?).and_then(|_| listener.accept()));
    facts.add_result("connect_localhost", inside);
}

fn files(facts: &mut Facts) {
    for folder in READ_ONLY.iter().chain(&WRITABLE) {
        let path = format!("{}/.belljar-probe", folder.trim_end_matches('/'));
        facts.add_result(&format!("write.{folder}"), fs::write(&path, "x"));
        let _ = fs::remove_file(&path);
    }
    for folder in WRITABLE {
        if let Ok(space) = rustix::fs::statvfs(folder) {
            facts.add(&format!("bytes.{folder}"), (space.f_blocks * space.f_frsize).to_string());
            facts.add(&format!("inodes.{folder}"), space.f_files.to_string());
        }
    }
    facts.add("root", names("/").join(","));
    for line in fs::read_to_string("/proc/self/mountinfo").unwrap_or_default().lines() {
        facts.add("mount", line);
    }
}

fn devices(facts: &mut Facts) {
    facts.add("devices", names("/dev").join(","));
}

fn limits(facts: &mut Facts) {
    for resource in 0..RESOURCES {
        if let Ok((soft, hard)) = calls::limit_of(resource) {
            facts.add(&format!("rlimit.{resource}"), format!("{soft},{hard}"));
        }
    }
}

fn secrets(facts: &mut Facts) {
    facts.add_result("read./proc/1/environ", fs::read("/proc/1/environ"));
    facts.add("command_line", fs::read("/proc/1/cmdline").unwrap_or_default());
    let mut variables: Vec<_> = std::env::vars_os().map(|(name, _)| name).collect();
    variables.sort();
    facts.add("variables", variables.join(OsStr::new(",")).as_bytes());
}

fn descriptors(facts: &mut Facts) {
    // The one that reads the list is in the list.
    let open = names("/proc/self/fd").into_iter().filter(|name| name.parse::<u32>().is_ok_and(|number| number > 2));
    let open: Vec<String> = open.filter(|name| fs::read_link(format!("/proc/self/fd/{name}")).is_ok()).collect();
    facts.add("descriptors", open.join(","));
}

fn supervisor(facts: &mut Facts) {
    facts.add_result("write./proc/1/mem", fs::OpenOptions::new().write(true).open("/proc/1/mem"));
    facts.add_result("read./proc/1/fd", fs::read_dir("/proc/1/fd"));
    for signal in [libc::SIGTERM, libc::SIGSTOP, libc::SIGCHLD, libc::SIGKILL] {
        calls::try_call(libc::SYS_kill, [1, signal.into(), 0, 0, 0]);
    }
    let parent = rustix::process::getppid().map_or(0, |pid| pid.as_raw_nonzero().get());
    facts.add("parent", parent.to_string());
    let armed = rustix::process::parent_process_death_signal();
    facts.add("parent_death_signal", armed.ok().flatten().map_or(0, rustix::process::Signal::as_raw).to_string());
}

fn names(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
