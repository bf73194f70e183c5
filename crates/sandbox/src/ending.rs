//! A sandbox that was made, and its end, which happens from outside in every case.
//!
//! A result is only given when pid 1 of the sandbox is gone, and with it, by the kernel's doing, every
//! process of its namespace, and when the launcher program is reaped.

use std::io;
use std::os::fd::OwnedFd;
use std::process::Child;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::net::Shutdown;
use rustix::process::Signal;
use tokio::io::Interest;
use tokio::time::timeout;

use crate::failure::RunError;
use crate::status::{Received, StatusChannel};
use crate::sys;
use crate::uids::Lease;

/// How long a killed sandbox may take to be gone before it is left to the reaper.
const LONGEST_END: Duration = Duration::from_secs(2);
/// How long a sandbox that has not told its pid 1 may take to notice that nobody waits for it.
const GRACE_SECONDS: i64 = 2;

/// A sandbox from the start of its launcher program to its end. Dropping it kills it at once.
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
    // Free only when everything above is over: the next run with this uid could see what is left.
    lease: Option<Lease>,
}

/// A sandbox that nobody waits for any more.
#[derive(Debug)]
pub(crate) struct Abandoned(Parts);

impl Made {
    pub(crate) fn new(
        mut child: Child,
        process: rustix::io::Result<OwnedFd>,
        status: OwnedFd,
        diagnostics_reader: OwnedFd,
        lease: Option<Lease>,
        abandon: mpsc::Sender<Abandoned>,
    ) -> io::Result<Self> {
        let launcher = match process {
            Ok(process) => Arc::new(process),
            Err(error) => {
                // Its status channel closes with this frame, so what it may have started ends by itself.
                child.kill()?;
                child.wait()?;
                return Err(error.into());
            }
        };
        let (status, diagnostics) = (Arc::new(status), Arc::new(diagnostics_reader));
        Ok(Self { parts: Some(Parts { child, launcher, pid_one: None, status, diagnostics, lease }), abandon })
    }

    /// The channel on which the sandbox reports.
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

    /// Keeps the process descriptor of pid 1 that came with a record.
    pub(crate) fn note(&mut self, received: &mut Received) {
        if let (Some(parts), Some(process)) = (&mut self.parts, received.process.take()) {
            parts.pid_one = Some(Arc::new(process));
        }
    }

    /// Whether the process descriptor of pid 1 has come.
    pub(crate) fn knows_pid_one(&self) -> bool {
        self.parts.as_ref().is_some_and(|parts| parts.pid_one.is_some())
    }

    /// Kills what is left and waits until nothing is.
    pub(crate) async fn end(mut self) -> Result<(), RunError> {
        let lost = RunError::io("waiting for the end of a sandbox");
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
            // Dropping this value hands it to the reaper, with its uid.
            Err(_) => return Err(RunError::Fault("a killed sandbox did not end".to_owned())),
        }
        if let Some(mut parts) = self.parts.take() {
            // It has ended, so this does not wait.
            parts.child.wait().map_err(lost)?;
        }
        Ok(())
    }

    fn parts(&self) -> io::Result<&Parts> {
        self.parts.as_ref().ok_or_else(|| io::Error::other("the sandbox is over"))
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
    /// `bwrap` while it still sets up would leave a child of it waiting for ever.
    fn kill(&self) {
        if let Some(pid_one) = &self.pid_one {
            let _ = rustix::process::pidfd_send_signal(pid_one, Signal::KILL);
        }
        let _ = rustix::net::shutdown(&self.status, Shutdown::Both);
    }
}

impl Abandoned {
    /// Waits for the end of a sandbox that was killed, then frees its uid.
    pub(crate) fn reap(self) {
        let Self(mut parts) = self;
        let grace = Timespec { tv_sec: GRACE_SECONDS, tv_nsec: 0 };
        if let Some(pid_one) = &parts.pid_one {
            wait_for(pid_one, None);
        }
        if !wait_for(&parts.launcher, Some(&grace)) {
            let _ = rustix::process::pidfd_send_signal(&parts.launcher, Signal::KILL);
        }
        if let Err(error) = parts.child.wait() {
            tracing::error!(%error, "an abandoned sandbox could not be reaped");
        }
        drop(parts.lease);
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
