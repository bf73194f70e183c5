//! The local driver: runs a script as a plain process of this host, in a folder of its own, beside a
//! shepherd that leaves no process of it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use belljar_executor::{Cancel, Cause, ExecutionRequest, RuntimeName, Unavailable};

use crate::arguments::{self, Slots};
use crate::driver::{Finished, RunEnding};
use crate::failure::{self, RunError};
use crate::job::{self, Job};
use crate::keep::{Keep, RunFolder, Tree};
use crate::launcher::{Launcher, Order};
use crate::places::Places;
use crate::run::{self, Channels};
use crate::runtimes::Runtimes;
use crate::walls::Walls;
use crate::{memory_file, order};

/// The variable whose value no other run has.
const MARK: &str = "BELLJAR_WORKSPACE";
/// How `init` ends when it is given no role.
const WITHOUT_ROLE: i32 = 2;

/// Runs scripts as plain processes. One value serves every run at once.
#[derive(Debug)]
pub struct LocalDriver {
    folder: PathBuf,
    launcher: Launcher,
    init: OwnedFd,
    runtimes: Runtimes,
}

impl LocalDriver {
    /// Looks at the host. Every run gets a folder of its own in `folder`, the system's temporary one
    /// without it. Blocks.
    ///
    /// # Errors
    /// [`Unavailable`] with what is missing and how to get it.
    pub fn open(folder: Option<&Path>) -> Result<Self, Unavailable> {
        let folder = folder.map_or_else(std::env::temp_dir, Path::to_owned);
        let opened = || {
            let folder = usable(&folder)?;
            let init = memory_file::init_program()?;
            let launcher = Launcher::start(shepherd_line)?;
            Ok(Self { folder, launcher, init, runtimes: Runtimes::find() })
        };
        opened().map_err(|error: io::Error| refused(&folder, &error.to_string()))
    }

    /// Runtime names and the interpreters behind them.
    #[must_use]
    pub fn runtimes(&self) -> BTreeMap<RuntimeName, String> {
        self.runtimes.known()
    }

    /// Runs a request to its end. Dropping the future kills it at once.
    ///
    /// # Errors
    /// [`RunError`] when there is no result; never [`RunError::Unavailable`].
    pub async fn run(&self, request: &ExecutionRequest, cancel: &Cancel) -> Result<Finished, RunError> {
        let known = |path: &str| Path::new(path).is_file();
        let wanted = &request.parts().interpreter;
        let interpreter = job::interpreter(wanted, &self.runtimes(), known)
            .ok_or_else(|| RunError::Fault(format!("the interpreter `{wanted}` is not on this host")))?;
        self.run_job(|places| Job::of_request(request, &interpreter, places), cancel).await
    }

    /// Starts a program that does nothing, to see that a script would start, and looks for runtimes again.
    ///
    /// # Errors
    /// [`Unavailable`] when nothing can run here.
    pub async fn probe(&self, timeout: Duration) -> Result<(), Unavailable> {
        self.runtimes.look_again();
        let refused = |message: &str| refused(&self.folder, message);
        match self.run_job(|places| Ok(Job::trial(places, timeout)), &Cancel::new()).await {
            Ok(finished) if finished.ending == RunEnding::Exited(WITHOUT_ROLE) => Ok(()),
            Ok(finished) => Err(refused(&format!("the trial did not end well: {:?}", finished.ending))),
            Err(error) => Err(refused(&error.to_string())),
        }
    }

    async fn run_job(
        &self,
        job: impl FnOnce(&Places) -> Result<Job, RunError>,
        cancel: &Cancel,
    ) -> Result<Finished, RunError> {
        if cancel.has_fired() {
            return Err(RunError::Cancelled);
        }
        let folder = RunFolder::make(&self.folder).map_err(RunError::io("making the folder of a run"))?;
        let places = Places::under(folder.text().map_err(RunError::io("making the folder of a run"))?);
        let job = job(&places)?;
        let written = self.write_order(&job, &places).await.map_err(RunError::io("writing an order"))?;
        let (order, streams) =
            self.prepare(written, folder, &places).map_err(|error| Walls::None.not_started(&error))?;
        let (made, ours) = run::begin(&self.launcher, order, streams, Walls::None, cancel).await?;
        Ok(run::conduct(made, ours, &job, cancel).await?.finished)
    }

    async fn write_order(&self, job: &Job, places: &Places) -> io::Result<OwnedFd> {
        let (job, places, python) = (job.clone(), places.clone(), self.runtimes.python());
        run::written(job.files.size(), move || order::write_plain(&job, &places, python.as_deref())).await
    }

    /// Everything a run starts with, and our ends of its streams.
    fn prepare(&self, written: OwnedFd, folder: RunFolder, places: &Places) -> io::Result<(Order, [OwnedFd; 3])> {
        let Channels { status, their_status, streams, their_streams } = Channels::open()?;
        let [stdin, stdout, stderr] = their_streams;
        let init = self.init.as_fd().try_clone_to_owned()?;
        let keep = Keep::Tree(Tree::new(folder, MARK, &places.workspace()));
        let descriptors = [init, written, their_status, stdin, stdout, stderr];
        Ok((Order { arguments: None, descriptors, status, keep }, streams))
    }
}

fn shepherd_line(slots: Slots) -> Vec<OsString> {
    arguments::init_line(slots, belljar_init::SHEPHERD).into_iter().map(OsString::from).collect()
}

/// The folder as runs know it: by its one real path, which must be able to stand in `PATH`.
fn usable(folder: &Path) -> io::Result<PathBuf> {
    let real = std::fs::canonicalize(folder)?;
    if real.to_str().is_none_or(|text| text.contains(':')) {
        return Err(io::Error::other("its name is no text, or holds a colon"));
    }
    // Found out by trying: what cannot be removed would pile up.
    let made = RunFolder::make(&real)?;
    belljar_init::removal::remove(Path::new(made.text()?))?;
    belljar_init::processes::are_ours()?;
    if let Err(error) = RunFolder::sweep(&real) {
        tracing::warn!(%error, folder = %real.display(), "what dead services left cannot be looked for");
    }
    Ok(real)
}

fn refused(folder: &Path, message: &str) -> Unavailable {
    let folder = folder.display();
    let message = format!("no script can run in {folder}: {message}");
    let remedy = format!("make {folder} a writable folder, or set another folder for runs");
    failure::unavailable(Cause::Other, None, message, remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_cannot_be_used_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let colon = folder.path().join("a:b");
        std::fs::create_dir(&colon).unwrap();
        for unusable in [colon, folder.path().join("missing")] {
            let unavailable = LocalDriver::open(Some(&unusable)).unwrap_err();
            assert!(unavailable.remedy.contains(unusable.to_str().unwrap()), "{unavailable:?}");
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
