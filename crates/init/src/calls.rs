//! System calls that no safe wrapper covers.

#![expect(unsafe_code, reason = "fork, exec, signal dispositions and seccomp have no safe interface")]

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use libc::{c_char, c_int, c_long, c_ulong};

/// Which side of a fork this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Child,
    Parent(i32),
}

fn checked(answer: c_int) -> io::Result<c_int> {
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(answer) }
}

pub(crate) fn fork() -> io::Result<Side> {
    // SAFETY: needed to start the job next to pid 1. This program never starts a thread, so the child is a
    // whole copy: no lock can be held by a thread that is missing in it.
    match checked(unsafe { libc::fork() })? {
        0 => Ok(Side::Child),
        pid => Ok(Side::Parent(pid)),
    }
}

/// Ends this process at once, without running anything registered for a normal end.
pub(crate) fn end_now(code: c_int) -> ! {
    // SAFETY: `_exit` takes a number, touches no memory of this program and does not return.
    unsafe { libc::_exit(code) }
}

/// Texts for `execve`, made before the fork.
#[derive(Debug)]
pub(crate) struct Texts {
    pointers: Vec<*const c_char>,
    // Owns what the pointers point to.
    _texts: Vec<CString>,
}

impl Texts {
    pub(crate) fn new(texts: &[Vec<u8>]) -> io::Result<Self> {
        let texts: Vec<CString> = texts.iter().map(|text| CString::new(text.as_slice())).collect::<Result<_, _>>()?;
        let pointers = texts.iter().map(|text| text.as_ptr()).chain([std::ptr::null()]).collect();
        Ok(Self { pointers, _texts: texts })
    }
}

/// Replaces this process by a program. Returns only an error.
pub(crate) fn exec(program: &CString, argv: &Texts, environment: &Texts) -> io::Error {
    // SAFETY: both lists end with a null pointer, and their texts live as long as the borrows.
    unsafe { libc::execve(program.as_ptr(), argv.pointers.as_ptr(), environment.pointers.as_ptr()) };
    io::Error::last_os_error()
}

/// Replaces this process by the program behind a descriptor. Returns only an error.
pub(crate) fn exec_descriptor(program: BorrowedFd<'_>, argv: &Texts, environment: &Texts) -> io::Error {
    let (argv, environment) = (argv.pointers.as_ptr(), environment.pointers.as_ptr());
    // SAFETY: as in `exec`; the empty path is a static text, as the flag demands.
    unsafe {
        libc::syscall(libc::SYS_execveat, program.as_raw_fd(), c"".as_ptr(), argv, environment, libc::AT_EMPTY_PATH)
    };
    io::Error::last_os_error()
}

/// Installs a BPF program as a system call filter for this process and its children.
pub(crate) fn install_filter(program: &[u8]) -> io::Result<()> {
    let instructions: Vec<libc::sock_filter> = program
        .chunks_exact(8)
        .map(|bytes| libc::sock_filter {
            code: u16::from_le_bytes([bytes[0], bytes[1]]),
            jt: bytes[2],
            jf: bytes[3],
            k: u32::from_le_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]),
        })
        .collect();
    let length = u16::try_from(instructions.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    let whole = libc::sock_fprog { len: length, filter: instructions.as_ptr().cast_mut() };
    // SAFETY: `whole` points to `length` instructions that outlive the call; the kernel copies and checks
    // them, and writes nothing.
    checked(unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER as c_ulong, &raw const whole) })?;
    Ok(())
}

/// Gives every signal its default meaning and blocks none: an ignored one would reach the script.
pub(crate) fn reset_signals() -> io::Result<()> {
    // The kernel's structure in zeroes: the default disposition, no flags, an empty mask.
    let default = [0_u64; 4];
    for signal in 1..=64 {
        // SAFETY: sets a disposition that runs no code of this program; the structure is read, and is as
        // large as the kernel's on every 64-bit architecture. By number, because the C library refuses the
        // two signals that it keeps for itself. The kernel refuses KILL and STOP, which changes nothing.
        unsafe { libc::syscall(libc::SYS_rt_sigaction, signal, default.as_ptr(), std::ptr::null_mut::<u64>(), 8) };
    }
    let mut none = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: `sigemptyset` initialises the set that `sigprocmask` then reads.
    unsafe {
        libc::sigemptyset(none.as_mut_ptr());
        checked(libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), std::ptr::null_mut()))?;
    }
    Ok(())
}

/// Blocks every signal that can be blocked.
pub(crate) fn block_signals() -> io::Result<()> {
    let mut all = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: needed so that a signal to the shepherd, which has a script's own identity, does not end it.
    // `sigfillset` initialises the set that `sigprocmask` then reads; the old mask is not asked for.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        checked(libc::sigprocmask(libc::SIG_BLOCK, all.as_ptr(), std::ptr::null_mut()))?;
    }
    Ok(())
}

/// Blocks SIGCHLD and returns a descriptor that tells of it, so that no handler is ever installed: to pid 1
/// the kernel delivers no signal from inside the sandbox that has none.
pub(crate) fn child_signal() -> io::Result<OwnedFd> {
    let mut child = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: no handler is installed; the set is initialised before it is read; `signalfd` returns a new
    // descriptor that is owned here alone.
    unsafe {
        // Ignored, as it may be inherited, it would let the kernel reap the children and tell nobody.
        libc::signal(libc::SIGCHLD, libc::SIG_DFL);
        libc::sigemptyset(child.as_mut_ptr());
        libc::sigaddset(child.as_mut_ptr(), libc::SIGCHLD);
        checked(libc::sigprocmask(libc::SIG_BLOCK, child.as_ptr(), std::ptr::null_mut()))?;
        let descriptor = checked(libc::signalfd(-1, child.as_ptr(), libc::SFD_CLOEXEC | libc::SFD_NONBLOCK))?;
        Ok(OwnedFd::from_raw_fd(descriptor))
    }
}

/// Makes `target` a copy of `source` that survives exec.
pub(crate) fn place_descriptor(source: BorrowedFd<'_>, target: c_int) -> io::Result<()> {
    // SAFETY: called for 0, 1 and 2 in a child about to exec; nothing in it owns these numbers.
    checked(unsafe { libc::dup2(source.as_raw_fd(), target) })?;
    Ok(())
}

/// Closes a number that no value owns.
pub(crate) fn close_number(number: c_int) {
    // SAFETY: called by pid 1 for 0, 1 and 2, which come from the launcher and are owned by no value; this
    // program writes to none of them afterwards.
    unsafe { libc::close(number) };
}

/// Marks every descriptor from `first` on as closed by exec, whoever opened it.
pub(crate) fn close_from_on_exec(first: u32) -> io::Result<()> {
    // SAFETY: sets a flag on descriptors and closes none in this process.
    let answer = unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

pub(crate) fn limit(resource: u32, soft: u64, hard: u64) -> io::Result<()> {
    let limit = libc::rlimit { rlim_cur: soft, rlim_max: hard };
    // SAFETY: the structure is read, and the kernel checks the number of the resource.
    checked(unsafe { libc::setrlimit(resource as _, &raw const limit) })?;
    Ok(())
}

/// The limit in force and how far it may be raised.
pub(crate) fn limit_of(resource: u32) -> io::Result<(u64, u64)> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure is written and belongs to this frame.
    checked(unsafe { libc::getrlimit(resource as _, &raw mut limit) })?;
    Ok((limit.rlim_cur, limit.rlim_max))
}

/// Kills every process of the namespace but this one.
pub(crate) fn kill_all_others() {
    // SAFETY: signals only. As pid 1 of a process namespace, "all" ends at its border and leaves out pid 1.
    unsafe { libc::kill(-1, libc::SIGKILL) };
}

/// Reaps one child that has ended: its pid and its raw status; `None` when there is none left at all.
pub(crate) fn reap() -> Reaped {
    let mut status = 0;
    // SAFETY: the status is written and belongs to this frame.
    match unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG) } {
        0 => Reaped::StillRunning,
        pid if pid > 0 => Reaped::Child(pid, status),
        _ => Reaped::NoneLeft,
    }
}

/// What there was to reap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reaped {
    Child(i32, c_int),
    StillRunning,
    NoneLeft,
}

/// What all reaped children used: largest resident memory in KiB, processor time in microseconds.
pub(crate) fn usage_of_children() -> (u64, u64) {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: all zeroes is a valid `rusage`, which the kernel overwrites.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_CHILDREN, usage.as_mut_ptr());
        usage.assume_init()
    };
    let micros = |time: libc::timeval| {
        u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000 + u64::try_from(time.tv_usec).unwrap_or(0)
    };
    (u64::try_from(usage.ru_maxrss).unwrap_or(0), micros(usage.ru_utime) + micros(usage.ru_stime))
}

/// A system call by number, for the self-probe: the error number that it gave, 0 for success.
pub(crate) fn try_call(number: c_long, arguments: [c_long; 5]) -> i32 {
    let [first, second, third, fourth, fifth] = arguments;
    // SAFETY: the self-probe passes only numbers and null or invalid pointers, to calls that its sandbox
    // refuses before they look at them; a granted one is a finding, and does no harm with these arguments.
    let answer = unsafe { libc::syscall(number, first, second, third, fourth, fifth) };
    if answer < 0 { io::Error::last_os_error().raw_os_error().unwrap_or(-1) } else { 0 }
}
