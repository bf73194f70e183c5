//! The descriptors that the launcher passes, and the status channel among them.

use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};

use belljar_init::status::{END, Ended, Record, Stage};
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags};
use rustix::process::{PidfdFlags, getpid, pidfd_open};

/// A step of ours that failed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Failure {
    pub(crate) stage: Stage,
    pub(crate) errno: i32,
}

/// Names the stage in which something failed.
pub(crate) trait At<T> {
    fn at(self, stage: Stage) -> Result<T, Failure>;
}

impl<T> At<T> for rustix::io::Result<T> {
    fn at(self, stage: Stage) -> Result<T, Failure> {
        self.map_err(|errno| Failure { stage, errno: errno.raw_os_error() })
    }
}

impl<T> At<T> for io::Result<T> {
    fn at(self, stage: Stage) -> Result<T, Failure> {
        self.map_err(|error| Failure { stage, errno: error.raw_os_error().unwrap_or(libc::EBADMSG) })
    }
}

/// The script's standard streams.
#[derive(Debug)]
pub(crate) struct Streams(pub(crate) [OwnedFd; 3]);

/// Everything that was passed.
#[derive(Debug)]
pub(crate) struct Inherited {
    pub(crate) order: OwnedFd,
    pub(crate) status: Status,
    pub(crate) streams: Streams,
    /// This program itself, for the self-probe.
    pub(crate) program: OwnedFd,
}

impl Inherited {
    /// Takes the descriptors whose numbers are on the command line.
    pub(crate) fn from_words(words: impl Iterator<Item = String>) -> Option<Self> {
        let numbers: Vec<i32> = words.map(|word| word.parse().ok()).collect::<Option<_>>()?;
        let [order, status, stdin, stdout, stderr, program] = numbers.try_into().ok()?;
        let all = [order, status, stdin, stdout, stderr, program];
        let distinct = (0..all.len()).all(|at| all[at] > 2 && !all[..at].contains(&all[at]));
        if !distinct {
            return None;
        }
        Some(Self {
            order: owned(order),
            status: Status(owned(status)),
            streams: Streams([owned(stdin), owned(stdout), owned(stderr)]),
            program: owned(program),
        })
    }
}

#[expect(unsafe_code, reason = "a descriptor passed by number can be taken in no other way")]
fn owned(number: i32) -> OwnedFd {
    // SAFETY: the launcher maps each of these numbers to an open descriptor for this process alone, the
    // caller has checked that they are distinct, and nothing else in this program knows them.
    unsafe { OwnedFd::from_raw_fd(number) }
}

/// The status channel: datagrams of one fixed size, out of every script's reach.
#[derive(Debug)]
pub(crate) struct Status(OwnedFd);

/// What the service wants, or that it is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    End,
    Gone,
    Nothing,
}

impl Status {
    /// Hands the service a descriptor of this very process: no number that could be reused meanwhile.
    pub(crate) fn started(&self) -> Result<(), Failure> {
        let own = pidfd_open(getpid(), PidfdFlags::empty()).at(Stage::Descriptor)?;
        let descriptors = [own.as_fd()];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        control.push(SendAncillaryMessage::ScmRights(&descriptors));
        let record = Record::Started.encode();
        rustix::net::sendmsg(&self.0, &[IoSlice::new(&record)], &mut control, SendFlags::NOSIGNAL)
            .at(Stage::Descriptor)?;
        Ok(())
    }

    pub(crate) fn ready(&self) {
        self.send(Record::Ready);
    }

    pub(crate) fn running(&self, session: i32) {
        self.send(Record::Running { session });
    }

    pub(crate) fn failed(&self, failure: Failure) {
        self.send(Record::Failed { stage: failure.stage, errno: failure.errno });
    }

    pub(crate) fn ended(&self, ended: Ended) {
        self.send(Record::Ended(ended));
    }

    /// What has arrived, without waiting.
    pub(crate) fn received(&self) -> Word {
        let mut byte = [0; 1];
        match rustix::net::recv(&self.0, &mut byte, RecvFlags::DONTWAIT) {
            Ok((1, _)) if byte[0] == END => Word::End,
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => Word::Nothing,
            // An end of file, or a word that no service of ours sends.
            _ => Word::Gone,
        }
    }

    // A service that is gone needs no record; the next poll sees that.
    fn send(&self, record: Record) {
        let _ = rustix::net::send(&self.0, &record.encode(), SendFlags::NOSIGNAL);
    }
}

impl AsFd for Status {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
