//! A run that was made, and its end, which happens from outside in every case.
//!
//! A result of a sandbox is only given when pid 1 of it is gone, and with it, by the kernel's doing, every
//! process of its namespace, and when the launcher program is reaped. One of a run without walls is only
//! given when its shepherd is reaped, which ends well when it has no descendant left.

use std::io;
use std::os::fd::OwnedFd;
use std::process::Child;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use belljar_init::status::Record;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::net::Shutdown;
use rustix::process::Signal;
use tokio::io::Interest;
use tokio::time::timeout;

use crate::failure::RunError;
use crate::keep::Keep;
use crate::status::{Received, StatusChannel};
use crate::sys;

/// How long a killed run may take to be gone before it is left to the reaper.
const LONGEST_END: Duration = Duration::from_secs(2);
/// How long what cannot be killed from here may take to notice that nobody waits for it: a sandbox that has
/// not told its pid 1, a shepherd that must live until no process of its run does.
const GRACE_SECONDS: i64 = 2;

/// A run from the start of its launcher program, or shepherd, to its end. Dropping it kills it at once.
#[derive(Debug)]
pub(crate) struct Made {
    parts: Option<Parts>,
    abandon: mpsc::Sender<Abandoned>,
}

#[derive(Debug)]
struct Parts {
    child: Child,
    launcher: Arc<OwnedFd>,
    pid_one: Option<Arc<OwnedFd>>,
    status: Arc<OwnedFd>,
    diagnostics: Arc<OwnedFd>,
    // Free only when everything above is over: the next run with the same uid could see what is left.
    keep: Keep,
}

/// A run that nobody waits for any more.
#[derive(Debug)]
pub(crate) struct Abandoned(Parts);

impl Made {
    pub(crate) fn new(
        mut child: Child,
        process: rustix::io::Result<OwnedFd>,
        status: OwnedFd,
        diagnostics_reader: OwnedFd,
        keep: Keep,
        abandon: mpsc::Sender<Abandoned>,
    ) -> io::Result<Self> {
        let launcher = match process {
            Ok(process) => Arc::new(process),
            Err(error) => {
                // Its status channel closes, so what it may have started ends by itself. A shepherd has to
                // live to do that.
                drop(status);
                if matches!(keep, Keep::Sandbox(_)) {
                    child.kill()?;
                }
                child.wait()?;
                return Err(error.into());
            }
        };
        let (status, diagnostics) = (Arc::new(status), Arc::new(diagnostics_reader));
        Ok(Self { parts: Some(Parts { child, launcher, pid_one: None, status, diagnostics, keep }), abandon })
    }

    /// The channel on which `init` reports.
    pub(crate) fn status(&self) -> io::Result<StatusChannel> {
        StatusChannel::new(self.parts()?.status.clone())
    }

    /// What the launcher program wrote about itself.
    pub(crate) fn diagnostics(&self) -> io::Result<Arc<OwnedFd>> {
        Ok(self.parts()?.diagnostics.clone())
    }

    /// Resolves when the launcher program has ended.
    pub(crate) async fn launcher_ended(&self) -> io::Result<()> {
        ended(self.parts()?.launcher.clone()).await
    }

    /// Keeps what a record says about whom to kill: the process descriptor of pid 1 that came with it, or
    /// the session of a script.
    pub(crate) fn note(&mut self, received: &mut Received) {
        let Some(parts) = &mut self.parts else { return };
        if let Some(process) = received.process.take() {
            parts.pid_one = Some(Arc::new(process));
        }
        if let (Keep::Tree(tree), Record::Running { session }) = (&mut parts.keep, received.record) {
            tree.note_session(session);
        }
    }

    /// Keeps that `init` told of the end.
    pub(crate) fn note_end(&mut self) {
        if let Some(Parts { keep: Keep::Tree(tree), .. }) = &mut self.parts {
            tree.note_end();
        }
    }

    /// Whether it is known whom to kill: pid 1 of a sandbox is, when its process descriptor has come; a
    /// shepherd is from its start.
    pub(crate) fn knows_whom_to_kill(&self) -> bool {
        let known = |parts: &Parts| parts.pid_one.is_some() || matches!(parts.keep, Keep::Tree(_));
        self.parts.as_ref().is_some_and(known)
    }

    /// Kills what is left and waits until nothing is.
    pub(crate) async fn end(mut self) -> Result<(), RunError> {
        let lost = RunError::io("waiting for the end of a run");
        let parts = match &self.parts {
            Some(parts) => parts,
            None => return Ok(()),
        };
        parts.kill();
        let (launcher, pid_one) = (parts.launcher.clone(), parts.pid_one.clone());
        let gone = async move {
            if let Some(pid_one) = pid_one {
                ended(pid_one).await?;
            }
            ended(launcher).await
        };
        match timeout(LONGEST_END, gone).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return Err(lost(error)),
            // Dropping this value hands it to the reaper, with what it keeps.
            Err(_) => return Err(RunError::Fault("a killed run did not end".to_owned())),
        }
        let Some(Parts { mut child, keep, .. }) = self.parts.take() else { return Ok(()) };
        // It has ended, so this does not wait.
        let status = child.wait().map_err(lost)?;
        match keep {
            Keep::Sandbox(_) => Ok(()),
            Keep::Tree(tree) => {
                let closed = tokio::task::spawn_blocking(move || tree.close(status)).await;
                closed.map_err(|error| RunError::Fault(format!("looking for what a run left: {error}")))?
            }
        }
    }

    /// Lets a shepherd go on that a script has stopped, so that it can be asked something.
    pub(crate) fn wake(&self) {
        if let Some(parts) = &self.parts {
            parts.wake();
        }
    }

    fn parts(&self) -> io::Result<&Parts> {
        self.parts.as_ref().ok_or_else(|| io::Error::other("the run is over"))
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        if let Some(parts) = self.parts.take() {
            parts.kill();
            if let Err(mpsc::SendError(abandoned)) = self.abandon.send(Abandoned(parts)) {
                abandoned.reap();
            }
        }
    }
}

impl Parts {
    /// Kills by process descriptor: no number that may mean another process by now. That it is gone
    /// already is success. Before pid 1 is known it is told through its status channel instead: killing
    /// `bwrap` while it still sets up would leave a child of it waiting for ever. A shepherd is always told:
    /// it alone knows its flock. A script may have stopped it.
    fn kill(&self) {
        if let Some(pid_one) = &self.pid_one {
            let _ = rustix::process::pidfd_send_signal(pid_one, Signal::KILL);
        }
        self.wake();
        let _ = rustix::net::shutdown(&self.status, Shutdown::Both);
    }

    fn wake(&self) {
        if matches!(self.keep, Keep::Tree(_)) {
            let _ = rustix::process::pidfd_send_signal(&self.launcher, Signal::CONT);
        }
    }
}

impl Abandoned {
    /// Waits for the end of a run that was killed, then frees what it kept.
    pub(crate) fn reap(self) {
        let Self(mut parts) = self;
        let grace = Timespec { tv_sec: GRACE_SECONDS, tv_nsec: 0 };
        if let Some(pid_one) = &parts.pid_one {
            wait_for(pid_one, None);
        }
        if !wait_for(&parts.launcher, Some(&grace)) {
            let _ = rustix::process::pidfd_send_signal(&parts.launcher, Signal::KILL);
        }
        match (parts.child.wait(), parts.keep) {
            (Ok(status), Keep::Tree(tree)) => {
                if let Err(error) = tree.close(status) {
                    tracing::error!(%error, "an abandoned run did not end well");
                }
            }
            (Ok(_), Keep::Sandbox(lease)) => drop(lease),
            (Err(error), _) => tracing::error!(%error, "an abandoned run could not be reaped"),
        }
    }
}

/// Waits until a process has ended: whether it has.
fn wait_for(process: &OwnedFd, longest: Option<&Timespec>) -> bool {
    loop {
        match rustix::event::poll(&mut [PollFd::new(process, PollFlags::IN)], longest) {
            Ok(ready) => return ready > 0,
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}

/// Resolves when a process has ended.
async fn ended(process: Arc<OwnedFd>) -> io::Result<()> {
    let process = sys::watch(process, Interest::READABLE)?;
    let _ready = process.readable().await?;
    Ok(())
}
