//! A lock between processes on a file of its own, for short work: opening, and copying the heads.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

/// How long to wait between two tries.
const PAUSE: Duration = Duration::from_millis(2);

/// Opens a file that exists to be locked, for its owner alone.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(path)
}

/// Takes the lock of this path, waiting at most this long. It is held until the file is dropped. Blocks.
pub(crate) fn take(path: &Path, patience: Duration) -> io::Result<File> {
    let file = open(path)?;
    let mut tries = patience.as_millis() / PAUSE.as_millis();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if tries == 0 => return Err(io::ErrorKind::TimedOut.into()),
            Err(TryLockError::WouldBlock) => tries -= 1,
        }
        std::thread::sleep(PAUSE);
    }
}
