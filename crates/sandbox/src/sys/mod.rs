//! The one place of this crate with `unsafe`: what happens between fork and exec of the launcher program,
//! and the registration of descriptors with the runtime.

#![expect(unsafe_code, reason = "neither a hook between fork and exec nor such a registration has a safe interface")]

use std::io;
use std::os::fd::{OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::Arc;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// One descriptor to pass: its number here, and the number it gets there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passed {
    pub(crate) source: RawFd,
    pub(crate) target: RawFd,
}

/// Lets the command start with these descriptors at these numbers. Every target must be held open by the
/// caller until the process is started, so that no descriptor of the standard library can be there.
pub(crate) fn pass_descriptors(command: &mut Command, passed: Vec<Passed>) {
    let place = move || {
        for Passed { source, target } in &passed {
            // SAFETY: `dup2` on two numbers touches no memory. The sources are open and the targets are
            // placeholders of the caller's; neither is a source at the same time.
            if unsafe { libc::dup2(*source, *target) } < 0 {
                return Err(io::Error::last_os_error());
            }
        }
        Ok(())
    };
    // SAFETY: needed because descriptors must be placed in the child alone. Between fork and exec of a
    // process with threads only async-signal-safe calls are allowed: the hook calls `dup2` and reads a
    // list made before the fork; it allocates nothing and takes no lock.
    unsafe { command.pre_exec(place) };
}

/// Lets the runtime tell when a descriptor is ready.
pub(crate) fn watch(descriptor: Arc<OwnedFd>, interest: Interest) -> io::Result<AsyncFd<Arc<OwnedFd>>> {
    // SAFETY: needed because the safe constructor is deprecated as unsound for types that may close or
    // change their descriptor while it is registered. A shared `OwnedFd` cannot: it stays open, with the
    // same number, until the last owner drops it, and the `AsyncFd` is one of the owners.
    unsafe { AsyncFd::register_with_interest(descriptor, interest) }.map_err(Into::into)
}
