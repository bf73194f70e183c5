//! The output pump: moves a script's bytes without ever blocking it and without growing.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use belljar_executor::{Captured, cap_bytes};
use rustix::fs::OFlags;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::sys;

const PIECE_BYTES: usize = 64 * 1024;

/// One stream as it is read: its head, and how long it was in all.
#[derive(Debug)]
pub(crate) struct Capture {
    head: Vec<u8>,
    total: u64,
    cap: usize,
}

impl Capture {
    pub(crate) fn new(cap: usize) -> Self {
        Self { head: Vec::new(), total: 0, cap }
    }

    /// Reads to the end of the stream. The rest behind the cap is read and dropped, so that the script
    /// never waits for a reader and its exit code survives.
    pub(crate) async fn fill(&mut self, pipe: OwnedFd) -> io::Result<()> {
        let pipe = ready_pipe(pipe, Interest::READABLE)?;
        let mut piece = vec![0; PIECE_BYTES];
        loop {
            let mut guard = pipe.readable().await?;
            match guard.try_io(|pipe| Ok(rustix::io::read(pipe.get_ref(), &mut piece)?)) {
                Ok(Ok(0)) => return Ok(()),
                Ok(Ok(read)) => {
                    if self.total == 0 {
                        // For tests that end the process once the script has shown that it runs.
                        tracing::trace!(target: "belljar::point", point = "after_exec");
                    }
                    self.take(&piece[..read]);
                }
                Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(Err(error)) => return Err(error),
                Err(_) => {}
            }
            // A script that writes without a pause must not keep the deadline from being looked at.
            tokio::task::consume_budget().await;
        }
    }

    /// The text that is kept.
    pub(crate) fn captured(&self) -> Captured {
        cap_bytes(&self.head, self.total, self.cap)
    }

    /// What was read, byte for byte.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.head
    }

    fn take(&mut self, piece: &[u8]) {
        let room = self.cap - self.head.len();
        self.head.extend_from_slice(&piece[..piece.len().min(room)]);
        self.total += piece.len() as u64;
    }
}

/// Writes all of `bytes`, then closes. A script that does not read them is normal.
pub(crate) async fn feed(pipe: OwnedFd, bytes: &[u8]) -> io::Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    let pipe = ready_pipe(pipe, Interest::WRITABLE)?;
    let mut left = bytes;
    while !left.is_empty() {
        let mut guard = pipe.writable().await?;
        match guard.try_io(|pipe| Ok(rustix::io::write(pipe.get_ref(), left)?)) {
            Ok(Ok(written)) => left = &left[written..],
            Ok(Err(error)) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
            Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(Err(error)) => return Err(error),
            Err(_) => {}
        }
        tokio::task::consume_budget().await;
    }
    Ok(())
}

// Non-blocking is a property of one end of a pipe: the script's end stays as it expects it.
fn ready_pipe(pipe: OwnedFd, interest: Interest) -> io::Result<AsyncFd<Arc<OwnedFd>>> {
    let flags = rustix::fs::fcntl_getfl(&pipe)?;
    rustix::fs::fcntl_setfl(&pipe, flags | OFlags::NONBLOCK)?;
    sys::watch(Arc::new(pipe), interest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_head_is_kept_and_the_rest_is_counted() {
        let (reader, writer) = rustix::pipe::pipe().unwrap();
        let (mut capture, input) = (Capture::new(10), vec![b'x'; 1_000_000]);
        let (fed, filled) = tokio::join!(feed(writer, &input), capture.fill(reader));
        fed.and(filled).unwrap();
        assert_eq!((capture.bytes().len(), capture.total), (10, 1_000_000));
        assert!(capture.captured().truncated);
    }

    #[tokio::test]
    async fn a_reader_that_goes_away_is_normal() {
        let (reader, writer) = rustix::pipe::pipe().unwrap();
        drop(reader);
        feed(writer, b"unread").await.unwrap();
    }
}
