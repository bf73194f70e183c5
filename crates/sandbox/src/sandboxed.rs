//! A run in a sandbox: what it starts with, and which of its limits it ran into.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use belljar_executor::{Cancel, LimitHit};
use belljar_init::status::Ended;
use rustix::process::{Gid, Uid};

use crate::arguments::framed;
use crate::driver::{Driver, Finished, RunEnding};
use crate::failure::RunError;
use crate::job::Job;
use crate::keep::Keep;
use crate::launcher::Order;
use crate::policy::Policy;
use crate::run::{self, Channels, Over};
use crate::uids::Lease;
use crate::walls::Walls;
use crate::{memory_file, order};

/// Runs a job: the result, and its standard output byte for byte.
pub(crate) async fn run(driver: &Driver, job: &Job, cancel: &Cancel) -> Result<(Finished, Vec<u8>), RunError> {
    let written = write_order(driver, job).await.map_err(RunError::io("writing an order"))?;
    let lease = driver.users.lease().map_err(RunError::io("leasing a uid"))?;
    // Giving the pipes to the run's uid fails first where that uid has no meaning.
    let (order, streams) = prepare(driver, written, lease).map_err(|error| Walls::Sandbox.not_started(&error))?;
    let (made, ours) = run::begin(&driver.launcher, order, streams, Walls::Sandbox, cancel).await?;
    let Over { mut finished, ended, output } = run::conduct(made, ours, job, cancel).await?;
    finished.limits_hit = ended.map_or_else(Vec::new, |ended| limits_hit(job, finished.ending, &ended));
    Ok((finished, output))
}

async fn write_order(driver: &Driver, job: &Job) -> io::Result<OwnedFd> {
    let (policy, python, job) = (driver.policy.clone(), driver.python(), job.clone());
    run::written(job.files.size(), move || order::write(&policy, &job, python.as_deref())).await
}

/// Everything a sandbox starts with, and our ends of its streams.
fn prepare(driver: &Driver, written: OwnedFd, lease: Option<Lease>) -> io::Result<(Order, [OwnedFd; 3])> {
    let mut arguments = memory_file::order()?;
    io::Write::write_all(&mut arguments, &framed(driver.policy.launcher_options()))?;
    let Channels { status, their_status, streams, their_streams } = Channels::open()?;
    if let Some(lease) = &lease {
        // So that a script may open /dev/stdout, as it may anywhere else.
        for pipe in &their_streams {
            let (uid, gid) = (Uid::from_raw(lease.uid()), Gid::from_raw(lease.uid()));
            rustix::fs::fchown(pipe, Some(uid), Some(gid))?;
        }
    }
    let init = driver.init.as_fd().try_clone_to_owned()?;
    let arguments = Some(memory_file::seal(arguments)?);
    let [stdin, stdout, stderr] = their_streams;
    let descriptors = [init, written, their_status, stdin, stdout, stderr];
    Ok((Order { arguments, descriptors, status, keep: Keep::Sandbox(lease) }, streams))
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
