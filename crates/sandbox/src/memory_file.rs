//! Sealed files in memory: what they hold can no longer be changed by anybody who gets them.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::fd::OwnedFd;

use rustix::fs::{MemfdFlags, SealFlags};

/// `init`, built for this architecture.
static INIT: &[u8] = include_bytes!(env!("BELLJAR_INIT"));

/// A sealed, executable file that holds `init`.
pub(crate) fn init_program() -> io::Result<OwnedFd> {
    // Kernels before 6.3 do not know the flag, and make every memory file executable.
    let executable = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING | MemfdFlags::EXEC;
    let descriptor = match rustix::fs::memfd_create(c"belljar-init", executable) {
        Err(rustix::io::Errno::INVAL) => {
            rustix::fs::memfd_create(c"belljar-init", executable.difference(MemfdFlags::EXEC))?
        }
        other => other?,
    };
    let mut file = File::from(descriptor);
    file.write_all(INIT)?;
    seal(file)
}

/// An empty file for an order.
pub(crate) fn order() -> io::Result<File> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    Ok(rustix::fs::memfd_create(c"belljar-order", flags)?.into())
}

/// Goes back to the start and closes the file to every change.
pub(crate) fn seal(mut file: File) -> io::Result<OwnedFd> {
    file.rewind()?;
    rustix::fs::fcntl_add_seals(&file, SealFlags::SEAL | SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE)?;
    Ok(file.into())
}
