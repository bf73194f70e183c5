//! The argument list for bubblewrap. It is a constant but for the shape of the host's top folders: nothing
//! of a run is in it.

use std::os::fd::RawFd;

use belljar_init::FIRST_STAGE;

use crate::host::Top;

/// The uid and gid inside every sandbox.
pub(crate) const INSIDE_ID: &str = "65534";
/// The host name inside every sandbox.
pub(crate) const HOSTNAME: &str = "belljar";

/// The device nodes a sandbox has.
pub(crate) const DEVICES: [&str; 5] = ["null", "zero", "full", "random", "urandom"];
/// The links beside them.
pub(crate) const DEVICE_LINKS: [(&str, &str); 4] = [
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
];
const MOUNT_POINTS: [&str; 6] = ["/dev/shm", "/skill", "/workspace", "/tmp", "/etc", "/runtime"];

/// The descriptors that a sandbox starts with, by number from a common base.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slots(pub(crate) RawFd);

impl Slots {
    /// How many there are.
    pub(crate) const COUNT: usize = 7;

    /// All of them: arguments, `init`, order, status, stdin, stdout, stderr.
    pub(crate) fn numbers(self) -> [RawFd; Self::COUNT] {
        [0, 1, 2, 3, 4, 5, 6].map(|offset| self.0 + offset)
    }
}

/// What stands on the command line, where other users of the machine can read it.
pub(crate) fn command_line(slots: Slots) -> Vec<String> {
    let [arguments, ..] = slots.numbers();
    let mut line = vec!["--args".to_owned(), arguments.to_string(), "--".to_owned()];
    line.extend(init_line(slots, FIRST_STAGE));
    line
}

/// `init` in one of its roles.
pub(crate) fn init_line(slots: Slots, role: &str) -> Vec<String> {
    let [_, init, order, status, stdin, stdout, stderr] = slots.numbers();
    let mut line = vec![format!("/proc/self/fd/{init}"), role.to_owned()];
    line.extend([order, status, stdin, stdout, stderr, init].map(|number| number.to_string()));
    line
}

/// What is passed by descriptor.
pub(crate) fn options(top: &[Top]) -> Vec<String> {
    let mut options: Vec<String> = Vec::new();
    let mut add = |words: &[&str]| options.extend(words.iter().map(|word| (*word).to_owned()));
    for namespace in ["user", "pid", "net", "ipc", "uts", "cgroup"] {
        add(&[&format!("--unshare-{namespace}")]);
    }
    add(&["--uid", INSIDE_ID, "--gid", INSIDE_ID, "--hostname", HOSTNAME]);
    add(&["--as-pid-1", "--die-with-parent", "--new-session"]);
    // What the first stage needs for mounts, for the bounding set and for the limit of user namespaces.
    add(&["--cap-drop", "ALL"]);
    for capability in ["CAP_SYS_ADMIN", "CAP_SETPCAP", "CAP_SYS_RESOURCE"] {
        add(&["--cap-add", capability]);
    }
    add(&["--ro-bind", "/usr", "/usr"]);
    for entry in top {
        match entry {
            Top::Link { path, target } => add(&["--symlink", target, path]),
            Top::View { path } => add(&["--ro-bind", path, path]),
        }
    }
    add(&["--proc", "/proc", "--dir", "/dev"]);
    for device in DEVICES {
        let path = format!("/dev/{device}");
        add(&["--dev-bind", &path, &path]);
    }
    for (name, target) in DEVICE_LINKS {
        add(&["--symlink", target, &format!("/dev/{name}")]);
    }
    for folder in MOUNT_POINTS {
        add(&["--dir", folder]);
    }
    options
}

/// The form in which bubblewrap reads them.
pub(crate) fn framed(options: &[String]) -> Vec<u8> {
    options.iter().flat_map(|option| option.bytes().chain([0])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_for_bubblewrap_0_8_is_the_reviewed_one() {
        let link = |path: &str, target: &str| Top::Link { path: path.into(), target: target.into() };
        let top = [
            link("/bin", "usr/bin"),
            link("/sbin", "usr/sbin"),
            link("/lib", "usr/lib"),
            Top::View { path: "/lib64".into() },
        ];
        let text = options(&top).join("\n").replace("\n--", "\u{0}--").replace('\n', " ").replace('\u{0}', "\n");
        let found = format!("{text}\n\n{}\n", command_line(Slots(64)).join(" "));
        let golden = include_str!("../tests/golden/bubblewrap-0.8.txt");
        assert_eq!(found, golden, "review the difference, then update the golden text");
    }

    #[test]
    fn framing_ends_every_word() {
        assert_eq!(framed(&["--a".into(), "b".into()]), b"--a\0b\0");
    }
}
