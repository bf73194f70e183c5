//! One run, from its order to its end, with walls or without.

use std::io;
use std::os::fd::OwnedFd;
use std::pin::pin;
use std::time::Duration;

use belljar_executor::{Cancel, Usage};
use belljar_init::status::{Ended, How, Record, Stage};
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use rustix::pipe::PipeFlags;
use tokio::time::{Instant, sleep_until, timeout, timeout_at};

use crate::driver::{Finished, RunEnding};
use crate::ending::Made;
use crate::failure::RunError;
use crate::job::Job;
use crate::launcher::{self, Launcher, Order};
use crate::pump::{self, Capture};
use crate::status::StatusChannel;
use crate::walls::Walls;

/// How long the set-up of a sandbox may take; a few milliseconds are usual.
const LONGEST_START: Duration = Duration::from_secs(4);
/// How long pipes are read after everything that could write to them is dead.
const LONGEST_DRAIN: Duration = Duration::from_millis(100);
/// Orders above this size are written on a thread that may block.
const LARGE_ORDER: u64 = 1024 * 1024;

/// Moves the bytes of a run and watches it to its end.
pub(crate) async fn conduct(made: Made, ours: Ours, job: &Job, cancel: &Cancel) -> Result<Over, RunError> {
    let mut stdout = Capture::new(job.cap);
    let mut stderr = Capture::new(job.cap);
    let (cause, ended) = {
        let input = job.input.as_deref().unwrap_or_default().as_bytes();
        let Ours { status, streams: [stdin, from_stdout, from_stderr], walls } = ours;
        let pumps = async {
            let moved = tokio::join!(pump::feed(stdin, input), stdout.fill(from_stdout), stderr.fill(from_stderr));
            moved.0.and(moved.1).and(moved.2)
        };
        let mut pumps = pin!(pumps);
        let mut control = pin!(control(made, &status, walls, Instant::now() + job.timeout, cancel));
        let mut moved = None;
        let over = loop {
            tokio::select! {
                biased;
                over = &mut control => break over?,
                result = &mut pumps, if moved.is_none() => moved = Some(result),
            }
        };
        let moved = match moved {
            Some(moved) => moved,
            None => timeout(LONGEST_DRAIN, &mut pumps).await.unwrap_or(Ok(())),
        };
        moved.map_err(RunError::io("moving the streams of a script"))?;
        over
    };
    let ending = match cause {
        Ending::Cancelled => return Err(RunError::Cancelled),
        Ending::TimedOut => RunEnding::TimedOut,
        Ending::ByItself(How::Exited(code)) => RunEnding::Exited(code),
        Ending::ByItself(How::Signalled(signal)) => RunEnding::Signalled(signal),
    };
    let usage = ended.map(usage_of);
    let (out, err) = (stdout.captured(), stderr.captured());
    let finished = Finished { ending, stdout: out, stderr: err, limits_hit: Vec::new(), usage };
    Ok(Over { finished, ended, output: stdout.bytes().to_vec() })
}

/// A run that is over.
#[derive(Debug)]
pub(crate) struct Over {
    /// The result, without the limits that it ran into: which there are is the matter of its walls.
    pub(crate) finished: Finished,
    /// The end as `init` saw it, when it told.
    pub(crate) ended: Option<Ended>,
    /// Standard output, byte for byte.
    pub(crate) output: Vec<u8>,
}

/// Why a run is over. The first cause is the only one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    ByItself(How),
    TimedOut,
    Cancelled,
}

/// What was first: word of an end, or a reason to end.
enum First {
    Told(Result<Option<Ended>, RunError>),
    Ended(Ending),
}

/// The service's ends of what a run started with.
#[derive(Debug)]
pub(crate) struct Ours {
    status: StatusChannel,
    streams: [OwnedFd; 3],
    walls: Walls,
}

/// Both ends of a status channel and of the standard streams.
#[derive(Debug)]
pub(crate) struct Channels {
    pub(crate) status: OwnedFd,
    pub(crate) their_status: OwnedFd,
    pub(crate) streams: [OwnedFd; 3],
    pub(crate) their_streams: [OwnedFd; 3],
}

impl Channels {
    /// Opens them.
    pub(crate) fn open() -> io::Result<Self> {
        let (status, their_status) =
            rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        let (their_stdin, stdin) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
        let (stdout, their_stdout) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
        let (stderr, their_stderr) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
        let their_streams = [their_stdin, their_stdout, their_stderr];
        Ok(Self { status, their_status, streams: [stdin, stdout, stderr], their_streams })
    }
}

/// Writes an order, on a thread that may block when it holds this many bytes of files.
pub(crate) async fn written(
    bytes: u64,
    write: impl FnOnce() -> io::Result<OwnedFd> + Send + 'static,
) -> io::Result<OwnedFd> {
    if bytes <= LARGE_ORDER {
        return write();
    }
    tokio::task::spawn_blocking(write).await.map_err(io::Error::other)?
}

/// Starts a run and waits until it is about to start its job.
pub(crate) async fn begin(
    launcher: &Launcher,
    order: Order,
    streams: [OwnedFd; 3],
    walls: Walls,
    cancel: &Cancel,
) -> Result<(Made, Ours), RunError> {
    let made = launcher.launch(order).await.map_err(|error| walls.not_started(&error))?;
    let status = made.status().map_err(RunError::io("opening the status channel"))?;
    let ours = Ours { status, streams, walls };
    let made = ready(made, &ours.status, walls, cancel).await?;
    Ok((made, ours))
}

/// Waits for the end of the set-up.
async fn ready(mut made: Made, status: &StatusChannel, walls: Walls, cancel: &Cancel) -> Result<Made, RunError> {
    let setup = async {
        loop {
            let Some(mut received) = status.next().await.map_err(RunError::io("reading the status channel"))? else {
                return Err(None);
            };
            made.note(&mut received);
            match received.record {
                // Without it nothing could be killed from outside: it is lost when descriptors run out.
                Record::Ready if !made.knows_whom_to_kill() => {
                    return Err(Some(RunError::Fault("no process descriptor of the sandbox came".to_owned())));
                }
                Record::Ready => return Ok(()),
                Record::Failed { stage, errno } => return Err(Some(walls.stage(stage, errno))),
                Record::Started | Record::Running { .. } | Record::Ended(_) => {}
            }
        }
    };
    let over = tokio::select! {
        biased;
        over = timeout_at(Instant::now() + LONGEST_START, setup) => over,
        () = cancel.fired() => Ok(Err(Some(RunError::Cancelled))),
    };
    let error = match over {
        Ok(Ok(())) => return Ok(made),
        Ok(Err(Some(error))) => error,
        Ok(Err(None)) => refused(&made, walls).await,
        Err(_) => walls.late(),
    };
    if let Err(left) = made.end().await {
        tracing::error!(%left, "a run that did not start did not end well either");
    }
    Err(error)
}

/// The launcher gave up before `init` could say anything: its own words are the only trace.
async fn refused(made: &Made, walls: Walls) -> RunError {
    let _ = timeout(walls.longest_farewell(), made.launcher_ended()).await;
    let words = made.diagnostics().map(|diagnostics| launcher::words_of(&diagnostics)).unwrap_or_default();
    walls.refused(&words)
}

/// Watches a run to its end, and ends it from outside whatever the end was.
async fn control(
    mut made: Made,
    status: &StatusChannel,
    walls: Walls,
    deadline: Instant,
    cancel: &Cancel,
) -> Result<(Ending, Option<Ended>), RunError> {
    let first = tokio::select! {
        biased;
        told = end_record(status, walls) => First::Told(told),
        () = cancel.fired() => First::Ended(Ending::Cancelled),
        () = sleep_until(deadline) => First::Ended(Ending::TimedOut),
    };
    let over = match first {
        First::Told(Ok(Some(ended))) => Ok((Ending::ByItself(ended.how), Some(ended))),
        First::Told(Ok(None)) => Err(walls.silent()),
        First::Told(Err(error)) => Err(error),
        First::Ended(cause) => {
            made.wake();
            status.ask_to_end();
            let farewell = timeout(walls.longest_farewell(), end_record(status, walls)).await;
            let told = farewell.ok().and_then(Result::ok).flatten();
            let cause = match (cause, &told) {
                // It had ended before; what took until the deadline was to end what it left.
                (Ending::TimedOut, Some(ended)) if ended.by_itself => Ending::ByItself(ended.how),
                (cause, _) => cause,
            };
            Ok((cause, told))
        }
    };
    if matches!(over, Ok((_, Some(_)))) {
        made.note_end();
    }
    match made.end().await {
        // A shepherd tells of the end when no process is left. What it still does is to remove files.
        Err(left) if walls == Walls::None && matches!(over, Ok((_, Some(_)))) => {
            tracing::warn!(%left, "the folder of a run is still there");
        }
        other => other?,
    }
    over
}

/// The record of the end; `None` when the channel closed without one.
async fn end_record(status: &StatusChannel, walls: Walls) -> Result<Option<Ended>, RunError> {
    loop {
        match status.next().await.map_err(RunError::io("reading the status channel"))?.map(|received| received.record) {
            Some(Record::Ended(ended)) => return Ok(Some(ended)),
            // The script has run by now and may have had a hand in it: that says nothing about the host.
            Some(Record::Failed { stage: Stage::Supervise, errno }) => {
                let why = io::Error::from_raw_os_error(errno);
                return Err(RunError::Fault(format!("{} failed: {why}", Stage::Supervise.meaning())));
            }
            Some(Record::Failed { stage, errno }) => return Err(walls.stage(stage, errno)),
            Some(Record::Started | Record::Running { .. } | Record::Ready) => {}
            None => return Ok(None),
        }
    }
}

fn usage_of(ended: Ended) -> Usage {
    Usage {
        memory_peak_bytes: ended.peak_kib.saturating_mul(1024),
        cpu_time: Duration::from_micros(ended.cpu_micros),
        source: "rusage",
    }
}
