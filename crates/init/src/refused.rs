//! System calls that the sandbox must refuse, each called for real with harmless arguments.

use libc::c_long;

use crate::calls;

/// A request number whose low word is `TIOCSTI`: the kernel looks at the low word only.
const TIOCSTI_WITH_HIGH_BITS: c_long = 0x5412 | (1 << 32);
/// Beyond every number that any kernel has given out.
const UNKNOWN_NUMBER: c_long = 4000;

/// Of linux/socket.h; not in every C library.
const AF_VSOCK: i32 = 40;

/// Name, number, arguments.
type Attempt = (&'static str, c_long, [c_long; 5]);

/// Calls all of them: name and error number.
pub(crate) fn attempts() -> Vec<(&'static str, i32)> {
    let mut all = vec![
        ("unshare_user", libc::SYS_unshare, [libc::CLONE_NEWUSER.into(), 0, 0, 0, 0]),
        ("unshare_mount", libc::SYS_unshare, [libc::CLONE_NEWNS.into(), 0, 0, 0, 0]),
        ("setns", libc::SYS_setns, [-1, 0, 0, 0, 0]),
        ("clone_newuser", libc::SYS_clone, [c_long::from(libc::CLONE_NEWUSER | libc::SIGCHLD), 0, 0, 0, 0]),
        ("clone3", libc::SYS_clone3, [0, 0, 0, 0, 0]),
        ("mount", libc::SYS_mount, [0, 0, 0, 0, 0]),
        ("umount2", libc::SYS_umount2, [0, 0, 0, 0, 0]),
        ("pivot_root", libc::SYS_pivot_root, [0, 0, 0, 0, 0]),
        ("move_mount", libc::SYS_move_mount, [-1, 0, -1, 0, 0]),
        ("open_tree", libc::SYS_open_tree, [-1, 0, 0, 0, 0]),
        ("fsopen", libc::SYS_fsopen, [0, 0, 0, 0, 0]),
        ("mount_setattr", libc::SYS_mount_setattr, [-1, 0, 0, 0, 0]),
        ("chroot", libc::SYS_chroot, [0, 0, 0, 0, 0]),
        ("ptrace", libc::SYS_ptrace, [0x10, 1, 0, 0, 0]),
        ("process_vm_readv", libc::SYS_process_vm_readv, [1, 0, 0, 0, 0]),
        ("process_vm_writev", libc::SYS_process_vm_writev, [1, 0, 0, 0, 0]),
        ("kcmp", libc::SYS_kcmp, [1, 1, 0, 0, 0]),
        ("pidfd_getfd", libc::SYS_pidfd_getfd, [-1, 0, 0, 0, 0]),
    ];
    all.extend(calls_on_pid_one());
    all.extend(kernel_calls());
    all.extend(socket_calls());
    all.into_iter().map(|(name, number, arguments)| (name, calls::try_call(number, arguments))).collect()
}

/// Each would change the sandbox's own first process, which has the uid of the job. Should one be granted
/// it would change nothing: it asks for what is so already, or reads.
fn calls_on_pid_one() -> Vec<Attempt> {
    vec![
        ("prlimit_pid_1", libc::SYS_prlimit64, [1, 0, 0, 0, 0]),
        ("sched_setscheduler_pid_1", libc::SYS_sched_setscheduler, [1, -1, 0, 0, 0]),
        ("sched_setparam_pid_1", libc::SYS_sched_setparam, [1, 0, 0, 0, 0]),
        ("sched_setattr_pid_1", libc::SYS_sched_setattr, [1, 0, 0, 0, 0]),
        ("sched_setaffinity_pid_1", libc::SYS_sched_setaffinity, [1, 0, 0, 0, 0]),
        ("setpriority_pid_1", libc::SYS_setpriority, [0, 1, 0, 0, 0]),
        ("setpriority_user", libc::SYS_setpriority, [2, 0, 0, 0, 0]),
        ("ioprio_set_pid_1", libc::SYS_ioprio_set, [1, 1, -1, 0, 0]),
        ("shmget", libc::SYS_shmget, [0, 0, 0, 0, 0]),
    ]
}

fn kernel_calls() -> Vec<Attempt> {
    vec![
        ("add_key", libc::SYS_add_key, [0, 0, 0, 0, 0]),
        ("keyctl", libc::SYS_keyctl, [0, 0, 0, 0, 0]),
        ("request_key", libc::SYS_request_key, [0, 0, 0, 0, 0]),
        ("bpf", libc::SYS_bpf, [0, 0, 0, 0, 0]),
        ("perf_event_open", libc::SYS_perf_event_open, [0, 0, 0, -1, 0]),
        ("userfaultfd", libc::SYS_userfaultfd, [0, 0, 0, 0, 0]),
        ("open_by_handle_at", libc::SYS_open_by_handle_at, [-1, 0, 0, 0, 0]),
        ("init_module", libc::SYS_init_module, [0, 0, 0, 0, 0]),
        ("finit_module", libc::SYS_finit_module, [-1, 0, 0, 0, 0]),
        ("delete_module", libc::SYS_delete_module, [0, 0, 0, 0, 0]),
        ("kexec_load", libc::SYS_kexec_load, [0, 0, 0, 0xffff, 0]),
        ("reboot", libc::SYS_reboot, [0, 0, 0, 0, 0]),
        ("swapon", libc::SYS_swapon, [0, 0, 0, 0, 0]),
        ("acct", libc::SYS_acct, [0, 0, 0, 0, 0]),
        ("sethostname", libc::SYS_sethostname, [0, 0, 0, 0, 0]),
        ("syslog", libc::SYS_syslog, [10, 0, 0, 0, 0]),
        ("settimeofday", libc::SYS_settimeofday, [0, 0, 0, 0, 0]),
        ("personality", libc::SYS_personality, [0x0040_0000, 0, 0, 0, 0]),
        ("tiocsti", libc::SYS_ioctl, [0, TIOCSTI_WITH_HIGH_BITS, 0, 0, 0]),
        ("io_uring_setup", libc::SYS_io_uring_setup, [1, 0, 0, 0, 0]),
        ("unknown_number", UNKNOWN_NUMBER, [0, 0, 0, 0, 0]),
        #[cfg(target_arch = "x86_64")]
        ("x32_number", 0x4000_0000 | libc::SYS_getpid, [0, 0, 0, 0, 0]),
    ]
}

fn socket_calls() -> Vec<Attempt> {
    let socket = |family: i32, kind: i32, protocol: i32| {
        [c_long::from(family), c_long::from(kind), c_long::from(protocol), 0, 0]
    };
    vec![
        ("socket_packet", libc::SYS_socket, socket(libc::AF_PACKET, libc::SOCK_RAW, 768)),
        ("socket_raw", libc::SYS_socket, socket(libc::AF_INET, libc::SOCK_RAW, 1)),
        ("socket_raw6", libc::SYS_socket, socket(libc::AF_INET6, libc::SOCK_RAW, 58)),
        ("socket_vsock", libc::SYS_socket, socket(AF_VSOCK, libc::SOCK_STREAM, 0)),
        ("socket_alg", libc::SYS_socket, socket(libc::AF_ALG, libc::SOCK_SEQPACKET, 0)),
        ("socket_netfilter", libc::SYS_socket, socket(libc::AF_NETLINK, libc::SOCK_RAW, 12)),
    ]
}
