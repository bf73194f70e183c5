//! The service's end of a run's status channel.

use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use belljar_init::status::{END, RECORD_BYTES, Record};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendFlags};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::sys;

/// Receives records and the descriptor of pid 1.
#[derive(Debug)]
pub(crate) struct StatusChannel(AsyncFd<Arc<OwnedFd>>);

/// A record, with the process descriptor if one came along.
#[derive(Debug)]
pub(crate) struct Received {
    pub(crate) record: Record,
    pub(crate) process: Option<OwnedFd>,
}

impl StatusChannel {
    pub(crate) fn new(socket: Arc<OwnedFd>) -> io::Result<Self> {
        sys::watch(socket, Interest::READABLE).map(Self)
    }

    /// The next record; `None` when the other end is closed or sends anything else.
    pub(crate) async fn next(&self) -> io::Result<Option<Received>> {
        loop {
            let mut guard = self.0.readable().await?;
            if let Ok(received) = guard.try_io(|socket| receive(socket.get_ref())) {
                return received;
            }
        }
    }

    /// Asks pid 1, or a shepherd, to end the run and tell what it used. That it may be gone already is fine.
    pub(crate) fn ask_to_end(&self) {
        let _ = rustix::net::send(self.0.get_ref(), &[END], SendFlags::NOSIGNAL | SendFlags::DONTWAIT);
    }
}

fn receive(socket: &OwnedFd) -> io::Result<Option<Received>> {
    let mut bytes = [0; RECORD_BYTES];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT;
    let answer = match rustix::net::recvmsg(socket, &mut [IoSliceMut::new(&mut bytes)], &mut control, flags) {
        // The other end was closed with a word of ours unread.
        Err(rustix::io::Errno::CONNRESET) => return Ok(None),
        other => other?,
    };
    let process = control.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    });
    Ok(Record::decode(&bytes[..answer.bytes]).map(|record| Received { record, process }))
}
