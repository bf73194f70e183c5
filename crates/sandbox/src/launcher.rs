//! Starts `bwrap` and shepherds, and takes care of what is started: the one module of this project that starts processes.
//!
//! One thread starts all of them, because the parent-death signal that `bwrap` asks for belongs to the
//! thread that started it, not to the process. A second thread reaps sandboxes that nobody waits for.

#![expect(clippy::disallowed_methods, reason = "this is the launcher")]

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, mpsc};
use std::thread;

use rustix::fs::OFlags;
use rustix::process::{Pid, PidfdFlags};
use tokio::sync::oneshot;

use crate::arguments::Slots;
use crate::ending::{Abandoned, Made};
use crate::keep::Keep;
use crate::sys::{self, Passed};

/// The first number that is tried for the descriptors of a sandbox.
const FIRST_SLOT: i32 = 64;
const LAST_SLOT: i32 = 960;

/// How often, and how long apart, it is looked whether the program has told its version: two seconds in all.
const VERSION_LOOKS: u32 = 200;
const BETWEEN_VERSION_LOOKS: std::time::Duration = std::time::Duration::from_millis(10);
/// The most of a version that is read, bytes.
const LONGEST_VERSION: u64 = 4096;

/// Everything one sandbox starts with.
#[derive(Debug)]
pub(crate) struct Order {
    /// The arguments of a launcher program, for the first slot.
    pub(crate) arguments: Option<OwnedFd>,
    /// For the other slots, in their order.
    pub(crate) descriptors: [OwnedFd; Slots::COUNT - 1],
    /// The service's end of the status channel.
    pub(crate) status: OwnedFd,
    /// What the run holds of the host.
    pub(crate) keep: Keep,
}

/// The two threads.
#[derive(Debug)]
pub(crate) struct Launcher {
    orders: mpsc::Sender<(Order, oneshot::Sender<io::Result<Made>>)>,
    slots: Slots,
}

impl Launcher {
    /// Starts the threads for a program with this command line.
    pub(crate) fn start(line: impl FnOnce(Slots) -> Vec<OsString>) -> io::Result<Self> {
        hears_of_children()?;
        let (orders, received) = mpsc::channel::<(Order, oneshot::Sender<io::Result<Made>>)>();
        let (abandon, abandoned) = mpsc::channel::<Abandoned>();
        let (slots, placeholders) = reserve_slots()?;
        let line = line(slots);
        thread::Builder::new().name("belljar-reaper".to_owned()).spawn(move || {
            abandoned.into_iter().for_each(Abandoned::reap);
        })?;
        thread::Builder::new().name("belljar-launcher".to_owned()).spawn(move || {
            for (order, answer) in received {
                // A caller that is gone drops what was made, which ends it.
                let _ = answer.send(launch(&line, order, slots, abandon.clone()));
            }
            drop(placeholders);
        })?;
        Ok(Self { orders, slots })
    }

    /// Makes a sandbox.
    pub(crate) async fn launch(&self, order: Order) -> io::Result<Made> {
        let gone = || io::Error::other("the launcher thread is gone");
        let (answer, made) = oneshot::channel();
        self.orders.send((order, answer)).map_err(|_| gone())?;
        made.await.map_err(|_| gone())?
    }

    pub(crate) const fn slots(&self) -> Slots {
        self.slots
    }
}

/// Asks the program for its version.
pub(crate) fn version(program: &Path) -> io::Result<String> {
    let mut asked = Command::new(program);
    let asked = asked.arg("--version").env_clear().stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = asked.spawn()?;
    for _ in 0..VERSION_LOOKS {
        if child.try_wait()?.is_some() {
            let mut answer = String::new();
            if let Some(stdout) = child.stdout.take() {
                stdout.take(LONGEST_VERSION).read_to_string(&mut answer)?;
            }
            return Ok(answer.trim().to_owned());
        }
        thread::sleep(BETWEEN_VERSION_LOOKS);
    }
    child.kill()?;
    child.wait()?;
    Err(io::Error::new(io::ErrorKind::TimedOut, "it did not tell its version in time"))
}

/// Holds numbers open that descriptors get in every sandbox. While a process is started the standard
/// library has a pipe of its own somewhere, and nothing may be placed over it: here it cannot be.
/// A service whose starter ignores SIGCHLD never learns how its children end.
fn hears_of_children() -> io::Result<()> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    match mask {
        Some(mask) if mask >> (libc::SIGCHLD - 1) & 1 == 0 => Ok(()),
        Some(_) => {
            Err(io::Error::other("the signal SIGCHLD is ignored: whoever starts this program must not ignore it"))
        }
        None => Err(io::Error::other("which signals are ignored cannot be told")),
    }
}

fn reserve_slots() -> io::Result<(Slots, Vec<OwnedFd>)> {
    let null = File::open("/dev/null")?;
    let mut first = FIRST_SLOT;
    while first < LAST_SLOT {
        let wanted = Slots(first).numbers();
        let placed: Vec<OwnedFd> =
            wanted.iter().map(|number| rustix::io::fcntl_dupfd_cloexec(&null, *number)).collect::<Result<_, _>>()?;
        if placed.iter().map(AsRawFd::as_raw_fd).eq(wanted) {
            return Ok((Slots(first), placed));
        }
        first += 16;
    }
    Err(io::Error::other("too many descriptors are open to start sandboxes"))
}

fn launch(line: &[OsString], order: Order, slots: Slots, abandon: mpsc::Sender<Abandoned>) -> io::Result<Made> {
    let [program, arguments @ ..] = line else { return Err(io::ErrorKind::InvalidInput.into()) };
    let (words, diagnostics) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        // Nothing to be read in /proc/1/environ: clearing it in the sandbox would come too late.
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(words);
    if let Keep::Sandbox(Some(lease)) = &order.keep {
        // The standard library clears the supplementary groups, sets the gid and then the uid, because
        // the process is root and no groups are named. The probe reads the result from inside.
        command.uid(lease.uid()).gid(lease.uid());
    }
    let [first, others @ ..] = slots.numbers();
    let first = order.arguments.iter().map(|arguments| (arguments, first));
    let passed = first.chain(order.descriptors.iter().zip(others));
    let passed = passed.map(|(source, target)| Passed { source: source.as_raw_fd(), target }).collect();
    sys::pass_descriptors(&mut command, passed);
    let child = command.spawn()?;
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::InvalidData)?;
    // Not reaped yet, so the number still means this process.
    let process = rustix::process::pidfd_open(pid, PidfdFlags::empty());
    // The launcher's command holds the write end of the diagnostics; it goes with this frame.
    drop(command);
    Made::new(child, process, order.status, diagnostics, order.keep, abandon)
}

/// The words of a launcher that failed, as far as they are there: this does not wait for more.
pub(crate) fn words_of(diagnostics: &Arc<OwnedFd>) -> String {
    let mut words = Vec::new();
    let ready = rustix::fs::fcntl_setfl(diagnostics, OFlags::NONBLOCK);
    if let (Ok(()), Ok(copy)) = (ready, diagnostics.try_clone()) {
        // Ends at the end of the words, or where it would have to wait.
        let _ = File::from(copy).take(4096).read_to_end(&mut words);
    }
    String::from_utf8_lossy(&words).trim().to_owned()
}
