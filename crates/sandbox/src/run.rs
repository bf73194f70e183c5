//! One run, from its order to its end.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::pin::pin;
use std::time::Duration;

use belljar_executor::{Cancel, LimitHit, Usage};
use belljar_init::status::{Ended, How, Record, Stage};
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use rustix::pipe::PipeFlags;
use rustix::process::{Gid, Uid};
use tokio::time::{Instant, sleep_until, timeout, timeout_at};

use crate::arguments::framed;
use crate::driver::{Driver, Finished, RunEnding};
use crate::ending::Made;
use crate::failure::{self, RunError};
use crate::job::Job;
use crate::launcher::{self, Order};
use crate::policy::Policy;
use crate::pump::{self, Capture};
use crate::status::StatusChannel;
use crate::{memory_file, order};

/// How long the set-up of a sandbox may take; a few milliseconds are usual.
const LONGEST_START: Duration = Duration::from_secs(4);
/// How long pid 1 may take to tell what was used, after it was asked to end.
const LONGEST_FAREWELL: Duration = Duration::from_millis(250);
/// How long pipes are read after everything that could write to them is dead.
const LONGEST_DRAIN: Duration = Duration::from_millis(100);
/// Orders above this size are written on a thread that may block.
const LARGE_ORDER: u64 = 1024 * 1024;

/// Runs a job: the result, and its standard output byte for byte.
pub(crate) async fn run(driver: &Driver, job: &Job, cancel: &Cancel) -> Result<(Finished, Vec<u8>), RunError> {
    let (made, ours) = start(driver, job, cancel).await?;
    let mut stdout = Capture::new(job.cap);
    let mut stderr = Capture::new(job.cap);
    let (cause, ended) = {
        let input = job.input.as_deref().unwrap_or_default().as_bytes();
        let Ours { status, stdin, stdout: from_stdout, stderr: from_stderr } = ours;
        let pumps = async {
            let moved = tokio::join!(pump::feed(stdin, input), stdout.fill(from_stdout), stderr.fill(from_stderr));
            moved.0.and(moved.1).and(moved.2)
        };
        let mut pumps = pin!(pumps);
        let mut control = pin!(control(made, &status, Instant::now() + job.timeout, cancel));
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
    let limits_hit = ended.map_or_else(Vec::new, |ended| limits_hit(job, ending, &ended));
    let (out, err) = (stdout.captured(), stderr.captured());
    Ok((Finished { ending, stdout: out, stderr: err, limits_hit, usage }, stdout.bytes().to_vec()))
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

/// The service's ends of what a sandbox started with.
struct Ours {
    status: StatusChannel,
    stdin: OwnedFd,
    stdout: OwnedFd,
    stderr: OwnedFd,
}

/// Makes a sandbox and waits until it is about to start its job.
async fn start(driver: &Driver, job: &Job, cancel: &Cancel) -> Result<(Made, Ours), RunError> {
    let written = write_order(driver, job).await.map_err(RunError::io("writing an order"))?;
    let lease = driver.users.lease().map_err(RunError::io("leasing a uid"))?;
    // Giving the pipes to the run's uid fails first where that uid has no meaning.
    let (order, ends) = prepare(driver, written, lease).map_err(|error| not_started(&error))?;
    let made = driver.launcher.launch(order).await.map_err(|error| not_started(&error))?;
    let status = made.status().map_err(RunError::io("opening the status channel"))?;
    let [stdin, stdout, stderr] = ends;
    let ours = Ours { status, stdin, stdout, stderr };
    let made = ready(made, &ours.status, cancel).await?;
    Ok((made, ours))
}

async fn write_order(driver: &Driver, job: &Job) -> io::Result<OwnedFd> {
    let python = driver.python();
    if job.files.size() <= LARGE_ORDER {
        return order::write(&driver.policy, job, python.as_deref());
    }
    let (policy, job) = (driver.policy.clone(), job.clone());
    let written = tokio::task::spawn_blocking(move || order::write(&policy, &job, python.as_deref()));
    written.await.map_err(io::Error::other)?
}

/// Everything a sandbox starts with, and our ends of its streams.
fn prepare(driver: &Driver, written: OwnedFd, lease: Option<crate::uids::Lease>) -> io::Result<(Order, [OwnedFd; 3])> {
    let mut arguments = memory_file::order()?;
    io::Write::write_all(&mut arguments, &framed(driver.policy.launcher_options()))?;
    let (status, theirs) =
        rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
    let (their_stdin, stdin) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
    let (stdout, their_stdout) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
    let (stderr, their_stderr) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
    if let Some(lease) = &lease {
        // So that a script may open /dev/stdout, as it may anywhere else.
        for pipe in [&their_stdin, &their_stdout, &their_stderr] {
            let (uid, gid) = (Uid::from_raw(lease.uid()), Gid::from_raw(lease.uid()));
            rustix::fs::fchown(pipe, Some(uid), Some(gid))?;
        }
    }
    let init = driver.init.as_fd().try_clone_to_owned()?;
    let arguments = memory_file::seal(arguments)?;
    let descriptors = [arguments, init, written, theirs, their_stdin, their_stdout, their_stderr];
    Ok((Order { descriptors, status, lease }, [stdin, stdout, stderr]))
}

fn not_started(error: &io::Error) -> RunError {
    // Setting the uid is what is refused: it has no meaning in the user namespace this service is in.
    if matches!(error.raw_os_error(), Some(libc::EINVAL | libc::EPERM)) {
        let message = format!("the uid of a run cannot be taken on: {error}");
        let remedy =
            "map the uids from 1879048192 to 1879052287 into this container, or start the service as an ordinary user";
        let control = Some(belljar_executor::Control::Identity);
        return failure::unavailable(belljar_executor::Cause::Other, control, message, remedy).into();
    }
    RunError::Fault(format!("starting a sandbox: {error}"))
}

/// Waits for the end of the set-up.
async fn ready(mut made: Made, status: &StatusChannel, cancel: &Cancel) -> Result<Made, RunError> {
    let setup = async {
        loop {
            let Some(mut received) = status.next().await.map_err(RunError::io("reading the status channel"))? else {
                return Err(None);
            };
            made.note(&mut received);
            match received.record {
                // Without it nothing could be killed from outside: it is lost when descriptors run out.
                Record::Ready if !made.knows_pid_one() => {
                    return Err(Some(RunError::Fault("no process descriptor of the sandbox came".to_owned())));
                }
                Record::Ready => return Ok(()),
                Record::Failed { stage, errno } => return Err(Some(RunError::stage(stage, errno))),
                Record::Started | Record::Ended(_) => {}
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
        Ok(Err(None)) => refused(&made).await,
        Err(_) => {
            let message = "a sandbox was not ready in time";
            failure::unavailable(belljar_executor::Cause::Other, None, message, "lower the load of this machine").into()
        }
    };
    if let Err(left) = made.end().await {
        tracing::error!(%left, "a sandbox that did not start did not end either");
    }
    Err(error)
}

/// The launcher gave up before `init` could say anything: its own words are the only trace.
async fn refused(made: &Made) -> RunError {
    let _ = timeout(LONGEST_FAREWELL, made.launcher_ended()).await;
    let words = made.diagnostics().map(|diagnostics| launcher::words_of(&diagnostics)).unwrap_or_default();
    let message = if words.is_empty() { "bwrap ended without a word".to_owned() } else { words };
    failure::host_refuses(&message, None).into()
}

/// Watches a run to its end, and ends it from outside whatever the end was.
async fn control(
    made: Made,
    status: &StatusChannel,
    deadline: Instant,
    cancel: &Cancel,
) -> Result<(Ending, Option<Ended>), RunError> {
    let first = tokio::select! {
        biased;
        told = end_record(status) => First::Told(told),
        () = cancel.fired() => First::Ended(Ending::Cancelled),
        () = sleep_until(deadline) => First::Ended(Ending::TimedOut),
    };
    let over = match first {
        First::Told(Ok(Some(ended))) => Ok((Ending::ByItself(ended.how), Some(ended))),
        First::Told(Ok(None)) => Err(RunError::Fault("the sandbox ended without a word".to_owned())),
        First::Told(Err(error)) => Err(error),
        First::Ended(cause) => {
            status.ask_to_end();
            let farewell = timeout(LONGEST_FAREWELL, end_record(status)).await;
            Ok((cause, farewell.ok().and_then(Result::ok).flatten()))
        }
    };
    made.end().await?;
    over
}

/// The record of the end; `None` when the channel closed without one.
async fn end_record(status: &StatusChannel) -> Result<Option<Ended>, RunError> {
    loop {
        match status.next().await.map_err(RunError::io("reading the status channel"))?.map(|received| received.record) {
            Some(Record::Ended(ended)) => return Ok(Some(ended)),
            // The script has run by now and may have had a hand in it: that says nothing about the host.
            Some(Record::Failed { stage: Stage::Supervise, errno }) => {
                let why = io::Error::from_raw_os_error(errno);
                return Err(RunError::Fault(format!("{} failed: {why}", Stage::Supervise.meaning())));
            }
            Some(Record::Failed { stage, errno }) => return Err(RunError::stage(stage, errno)),
            Some(Record::Started | Record::Ready) => {}
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

/// Only what was observed: pid 1 that ended the run for its memory, a file system that is full at the end,
/// and the kernel's own signal for time.
fn limits_hit(job: &Job, ending: RunEnding, ended: &Ended) -> Vec<LimitHit> {
    let mut hit = Vec::new();
    if ended.memory_hit {
        hit.push(LimitHit::Memory);
    }
    if ended.disk_full && ending != RunEnding::Exited(0) {
        hit.push(LimitHit::Disk);
    }
    // The kernel's clock for this limit ticks a little differently from the one that counts usage.
    let allowed = Duration::from_secs(Policy::cpu_seconds(&job.limits, job.timeout_seconds())).mul_f64(0.9);
    // A script that ignores the first signal is ended by the second, which cannot be ignored.
    let by_the_kernel = matches!(ending, RunEnding::Signalled(libc::SIGXCPU | libc::SIGKILL));
    if by_the_kernel && !ended.memory_hit && Duration::from_micros(ended.cpu_micros) >= allowed {
        hit.push(LimitHit::Cpu);
    }
    hit
}
