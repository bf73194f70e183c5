//! What a run holds of the host until everything of it is over.

use std::collections::BTreeSet;
use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::thread;
use std::time::Duration;

use belljar_init::processes::{self, Process};
use belljar_init::removal;
use rustix::fs::{Mode, OFlags};
use rustix::process::Signal;

use crate::failure::RunError;
use crate::uids::Lease;

/// How often what a dead shepherd left is looked for, and how long apart: half a second in all.
const SWEEPS: u32 = 100;
const BETWEEN_SWEEPS: Duration = Duration::from_millis(5);

/// What a run holds.
#[derive(Debug)]
pub(crate) enum Keep {
    /// The user of a sandbox; none when it is the service's own.
    Sandbox(Option<Lease>),
    /// A folder of the host, and processes that only a shepherd keeps together.
    Tree(Tree),
}

/// A run without walls.
#[derive(Debug)]
pub(crate) struct Tree {
    folder: RunFolder,
    /// A variable that only this run has, as it stands in an environment.
    mark: Vec<u8>,
    session: Option<Session>,
    /// Whether the shepherd told that no process is left.
    ended: bool,
}

/// The session that the script was started in, and when its first process was.
#[derive(Clone, Copy, Debug)]
struct Session {
    number: i32,
    start: Option<u64>,
}

impl Tree {
    /// A run in this folder, with this variable.
    pub(crate) fn new(folder: RunFolder, name: &str, value: &str) -> Self {
        Self { folder, mark: format!("{name}={value}").into_bytes(), session: None, ended: false }
    }

    /// Keeps the session that a record told.
    pub(crate) fn note_session(&mut self, number: i32) {
        self.session = Some(Session { number, start: Process::find(number).map(|leader| leader.start) });
    }

    /// Keeps that the shepherd told of the end.
    pub(crate) fn note_end(&mut self) {
        self.ended = true;
    }

    /// After the shepherd ended: a good one has left nothing. Blocks.
    ///
    /// # Errors
    /// [`RunError::Fault`] when it was killed, or could not kill what the script left.
    pub(crate) fn close(self, shepherd: ExitStatus) -> Result<(), RunError> {
        let began = self.session.is_some() || shepherd.code().is_none();
        // One that ended well without a word may have been made to.
        if !began || shepherd.success() && self.ended {
            return Ok(());
        }
        let killed = self.sweep();
        if shepherd.success() && killed == 0 {
            return Ok(());
        }
        let folder = self.folder.path.display();
        Err(RunError::Fault(format!(
            "the shepherd of the run in {folder} did not end well ({shepherd}); {killed} processes without it were killed"
        )))
    }

    /// Kills what can be told to be of this run without a shepherd, and everything below it.
    fn sweep(&self) -> usize {
        let mut killed = BTreeSet::new();
        for _ in 0..SWEEPS {
            let mut all = processes::all().unwrap_or_default();
            // Whoever adopts them takes their status in its own time.
            all.retain(|process| !process.has_ended);
            let session = self.session.filter(Session::is_still_the_same);
            let of_run = |process: &&Process| {
                session.is_some_and(|session| session.number == process.session) || self.is_marked(process.pid)
            };
            let mut found: Vec<Process> = all.iter().filter(of_run).copied().collect();
            found.extend(processes::descendants(&all, found.iter().map(|process| process.pid)));
            if found.is_empty() {
                break;
            }
            for process in found {
                process.signal(Signal::KILL);
                killed.insert((process.pid, process.start));
            }
            thread::sleep(BETWEEN_SWEEPS);
        }
        killed.len()
    }

    fn is_marked(&self, pid: i32) -> bool {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == self.mark)
    }
}

impl Session {
    /// A number is given out again only when nobody uses it any more; its new first process began later.
    fn is_still_the_same(&self) -> bool {
        Process::find(self.number).is_none_or(|leader| Some(leader.start) == self.start)
    }
}

/// How the folders of runs are named.
const PREFIX: &str = "belljar-run-";
/// From this age on a folder that nobody holds is one that a dead service left. Its shepherd needs seconds.
const STALE: Duration = Duration::from_secs(60);

/// A folder of one run, for its owner alone. Removed when dropped, unless the shepherd has done so.
#[derive(Debug)]
pub(crate) struct RunFolder {
    path: PathBuf,
    // Locked as long as the service lives: so a later one can tell what is left of a dead one.
    _held: File,
}

impl RunFolder {
    /// Makes one.
    pub(crate) fn make(parent: &Path) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        let made = builder.prefix(PREFIX).permissions(Permissions::from_mode(0o700)).tempdir_in(parent)?;
        let held = File::open(made.path())?;
        held.lock()?;
        Ok(Self { path: made.keep(), _held: held })
    }

    /// Removes what dead services left in this folder. What cannot be removed is told and stays.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub(crate) fn sweep(parent: &Path) -> io::Result<()> {
        for entry in fs::read_dir(parent)? {
            let entry = entry?;
            if entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes()) && Self::is_stale(&entry.path()) {
                let folder = entry.path();
                let shown = folder.display();
                if let Err(error) = removal::remove(&folder) {
                    tracing::warn!(%error, folder = %shown, "what a dead service left cannot be removed");
                } else {
                    tracing::warn!(folder = %shown, "removed the folder of a run that a dead service left");
                }
            }
        }
        Ok(())
    }

    /// Whether it is this user's, old enough, and held by nobody.
    fn is_stale(folder: &Path) -> bool {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let Ok(held) = rustix::fs::open(folder, flags, Mode::empty()).map(File::from) else { return false };
        let Ok(found) = held.metadata() else { return false };
        let is_own = found.uid() == rustix::process::geteuid().as_raw();
        let is_old = found.modified().is_ok_and(|changed| changed.elapsed().is_ok_and(|age| age > STALE));
        is_own && is_old && held.try_lock().is_ok()
    }

    /// Where it is, as text: a script gets it in its environment.
    pub(crate) fn text(&self) -> io::Result<&str> {
        self.path.to_str().ok_or_else(|| io::Error::other("the folder of runs has a name that is no text"))
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        if let Err(error) = removal::remove(&self.path) {
            tracing::warn!(%error, folder = %self.path.display(), "the folder of a run could not be removed");
        }
    }
}
