//! The bubblewrap driver: opens the host once, then makes a sandbox for each run.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use belljar_executor::{Cancel, Captured, Cause, ExecutionRequest, LimitHit, Report, RuntimeName, Unavailable, Usage};

use crate::arguments::{self, Slots};
use crate::failure::{self, RunError};
use crate::host::{Host, visible_program};
use crate::job::{self, Job};
use crate::launcher::{self, Launcher};
use crate::places::Places;
use crate::plan::Plan;
use crate::policy::Policy;
use crate::runtimes::{self, Runtimes};
use crate::uids::{self, Users};
use crate::{memory_file, probe, sandboxed};

/// Where `bwrap` is looked for. Not in `PATH`, which may be the user's.
const PROGRAMS: [&str; 3] = ["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"];
const INSTALL: &str = "sudo apt-get install bubblewrap";

/// How the driver is set up. The default is right for a service.
#[derive(Clone, Debug, Default)]
pub struct DriverOptions {
    /// The `bwrap` program, when it is not in a system folder.
    pub program: Option<PathBuf>,
    /// Where locks of uids are kept when the service is root; `/run/belljar` without it.
    pub runtime_folder: Option<PathBuf>,
}

/// Makes sandboxes with bubblewrap. One value serves every run at once.
#[derive(Debug)]
pub struct Driver {
    name: String,
    pub(crate) policy: Arc<Policy>,
    pub(crate) users: Users,
    pub(crate) launcher: Launcher,
    pub(crate) init: OwnedFd,
    runtimes: Runtimes,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunEnding {
    /// The main process ended with this exit code.
    Exited(i32),
    /// This signal ended the main process.
    Signalled(i32),
    /// The deadline ended the run.
    TimedOut,
}

/// A run that is over, with nothing of it left.
#[derive(Clone, Debug)]
pub struct Finished {
    /// How it ended.
    pub ending: RunEnding,
    /// Standard output.
    pub stdout: Captured,
    /// Standard error.
    pub stderr: Captured,
    /// Limits that were seen to be hit.
    pub limits_hit: Vec<LimitHit>,
    /// What it used; not known when the sandbox had to be killed before it told.
    pub usage: Option<Usage>,
}

impl Driver {
    /// Looks at the host: the program, the users, the files that sandboxes get, the filters. Blocks.
    ///
    /// # Errors
    /// [`Unavailable`] with what is missing and how to get it.
    pub fn open(options: &DriverOptions) -> Result<Self, Unavailable> {
        let other = |what: &str| {
            let what = what.to_owned();
            move |error: io::Error| failure::unavailable(Cause::Other, None, format!("{what}: {error}"), "")
        };
        let program = find_program(options.program.as_deref())?;
        let version = launcher::version(&program).map_err(other("starting bwrap"))?;
        let folder = options.runtime_folder.as_deref().unwrap_or(Path::new(uids::DEFAULT_FOLDER));
        let users = Users::open(folder).map_err(|error| {
            let message = format!("uids for runs cannot be locked in {}: {error}", folder.display());
            let remedy = format!("sudo install -d -m 0700 -o root {}", folder.display());
            failure::unavailable(Cause::Other, Some(belljar_executor::Control::Identity), message, remedy)
        })?;
        let host = Host::read().map_err(other("reading the host's folders"))?;
        let policy =
            Policy::standard(host).map_err(|error| failure::unavailable(Cause::Other, None, error.to_string(), ""))?;
        Ok(Self {
            name: version,
            policy: Arc::new(policy),
            users,
            launcher: Launcher::start(|slots| bubblewrap_line(&program, slots))
                .map_err(other("starting the launcher"))?,
            init: memory_file::init_program().map_err(other("placing init in memory"))?,
            runtimes: Runtimes::find(),
        })
    }

    /// The program and its version, such as `bubblewrap 0.8.0`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Runtime names and the interpreters behind them.
    #[must_use]
    pub fn runtimes(&self) -> BTreeMap<RuntimeName, String> {
        self.runtimes.known()
    }

    /// The interpreter that `/runtime/bin/python` is a link to.
    pub(crate) fn python(&self) -> Option<String> {
        self.runtimes.python()
    }

    /// The job of a request.
    ///
    /// # Errors
    /// [`RunError::Fault`] when it cannot be run as it stands.
    pub fn job(&self, request: &ExecutionRequest) -> Result<Job, RunError> {
        let wanted = &request.parts().interpreter;
        let interpreter = job::interpreter(wanted, &self.runtimes(), |path| visible_program(path).is_some())
            .ok_or_else(|| RunError::Fault(format!("the interpreter `{wanted}` is not in the sandbox")))?;
        Job::of_request(request, &interpreter, &Places::sandbox())
    }

    /// What a job would get.
    #[must_use]
    pub fn plan(&self, job: &Job) -> Plan {
        Plan::new(&self.name, &self.policy, job, self.launcher.slots())
    }

    /// Runs a job to its end. Dropping the future kills it at once.
    ///
    /// # Errors
    /// [`RunError`] when there is no result.
    pub async fn run(&self, job: &Job, cancel: &Cancel) -> Result<Finished, RunError> {
        sandboxed::run(self, job, cancel).await.map(|(finished, _)| finished)
    }

    /// Tries the whole set-up with a job that checks it from inside, and looks for runtimes again.
    ///
    /// # Errors
    /// [`Unavailable`] when nothing can run here.
    pub async fn probe(&self, timeout: Duration) -> Result<Report, Unavailable> {
        let found = runtimes::find();
        let report = probe::probe(self, timeout, found.clone()).await?;
        self.runtimes.replace(found);
        Ok(report)
    }
}

fn bubblewrap_line(program: &Path, slots: Slots) -> Vec<OsString> {
    let mut line = vec![program.into()];
    line.extend(arguments::command_line(slots).into_iter().map(OsString::from));
    line
}

fn find_program(explicit: Option<&Path>) -> Result<PathBuf, Unavailable> {
    use std::os::unix::fs::MetadataExt;

    let candidates: Vec<&Path> = explicit.map_or_else(|| PROGRAMS.iter().map(Path::new).collect(), |path| vec![path]);
    let found = candidates.iter().find_map(|path| Some((*path, std::fs::metadata(path).ok()?)));
    let Some((program, metadata)) = found.filter(|(_, metadata)| metadata.is_file()) else {
        let places: Vec<_> = candidates.iter().map(|path| path.display().to_string()).collect();
        let message = format!("bubblewrap is not installed (looked for {})", places.join(", "));
        return Err(failure::unavailable(Cause::MissingProgram, None, message, INSTALL));
    };
    if metadata.mode() & 0o6000 != 0 {
        let message = format!("{} is set-uid or set-gid: a bug in it would give root to scripts", program.display());
        let remedy = format!("sudo chmod u-s,g-s {}", program.display());
        return Err(failure::unavailable(Cause::SetuidProgram, None, message, remedy));
    }
    Ok(program.to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_missing_and_a_set_uid_program_are_named_with_their_remedy() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("bwrap");
        let missing = find_program(Some(&program)).unwrap_err();
        assert_eq!((missing.cause, missing.remedy.as_str()), (Cause::MissingProgram, INSTALL));
        fs::write(&program, "").unwrap();
        assert!(find_program(Some(&program)).is_ok());
        fs::set_permissions(&program, Permissions::from_mode(0o4755)).unwrap();
        assert_eq!(find_program(Some(&program)).unwrap_err().cause, Cause::SetuidProgram);
    }
}
