//! The job: the last steps in the child before it becomes the script's interpreter.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use belljar_init::order::Job;
use belljar_init::status::Stage;
use rustix::fs::Mode;
use rustix::process::getpid;

use crate::calls::{self, Texts};
use crate::channel::{At, Failure, Status, Streams};
use crate::rights;

/// What exec needs, made before the fork.
#[derive(Debug)]
pub(crate) struct Prepared<'a> {
    job: &'a Job,
    program: CString,
    argv: Texts,
    environment: Texts,
    announced: bool,
}

impl<'a> Prepared<'a> {
    pub(crate) fn new(job: &'a Job) -> io::Result<Self> {
        Ok(Self {
            job,
            program: CString::new(job.program.as_slice())?,
            argv: Texts::new(&job.argv)?,
            environment: Texts::new(&job.environment)?,
            announced: false,
        })
    }

    /// The job itself tells its session, and that the set-up is over, in its last step: a script that could
    /// stop its parent would keep it from telling.
    pub(crate) fn announced(self) -> Self {
        Self { announced: true, ..self }
    }

    /// Becomes the job. A failure is told on the status channel, which closes by itself on exec: no script
    /// ever holds it.
    pub(crate) fn become_job(&self, streams: &Streams, itself: &OwnedFd, status: &Status) -> ! {
        if let Err(failure) = self.last_steps(streams, itself, status) {
            status.failed(failure);
        }
        calls::end_now(127)
    }

    fn last_steps(&self, streams: &Streams, itself: &OwnedFd, status: &Status) -> Result<(), Failure> {
        rustix::process::setsid().at(Stage::Session)?;
        rights::arm_parent_death()?;
        calls::reset_signals().at(Stage::Signals)?;
        for (stream, number) in streams.0.iter().zip(0..) {
            calls::place_descriptor(stream.as_fd(), number).at(Stage::Streams)?;
        }
        rustix::process::umask(Mode::from_raw_mode(0o022));
        rustix::process::chdir(self.job.folder.as_slice()).at(Stage::StartFolder)?;
        calls::close_from_on_exec(3).at(Stage::Descriptors)?;
        for limit in &self.job.rlimits {
            calls::limit(limit.resource, limit.soft, limit.hard).at(Stage::ResourceLimits)?;
        }
        install_filters(self.job)?;
        if self.announced {
            status.running(getpid().as_raw_nonzero().get());
            status.ready();
        }
        // The last restriction is on; only now is anything interpreted that a skill or a caller wrote.
        let error = if self.job.program.is_empty() {
            calls::exec_descriptor(itself.as_fd(), &self.argv, &self.environment)
        } else {
            calls::exec(&self.program, &self.argv, &self.environment)
        };
        Err(error).at(Stage::Exec)
    }
}

/// Installs all system call filters of the job, for it or for pid 1.
pub(crate) fn install_filters(job: &Job) -> Result<(), Failure> {
    job.filters.iter().try_for_each(|filter| calls::install_filter(filter).at(Stage::Seccomp))
}
