//! A small honest executor that really runs `sh`, without any isolation: only for the harmless scripts
//! of the contract.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use belljar_executor::{
    Cancel, ExecutionRequest, Executor, ExecutorError, Origin, Outcome, RequestParts, Usage, async_trait,
};
use tempfile::TempDir;
use tokio::process::{Child, Command};

use super::defect::Defect;
use super::streams::{Streams, feed};
use super::traces::{Traces, kill_all};

/// The reference executor, honest or with one defect.
#[derive(Debug)]
pub struct Reference {
    defect: Option<Defect>,
    base: TempDir,
    turn: tokio::sync::Mutex<()>,
    folders: Arc<Mutex<HashMap<PathBuf, u32>>>,
}

/// How the main process came to its end.
enum End {
    Exited(std::process::ExitStatus),
    TimedOut,
    Cancelled,
}

impl Reference {
    /// Without a defect it is honest.
    ///
    /// # Panics
    /// When this host has no place for temporary files.
    #[must_use]
    pub fn new(defect: Option<Defect>) -> Self {
        let base = tempfile::Builder::new().prefix("contract").tempdir().unwrap();
        Self { defect, base, turn: tokio::sync::Mutex::default(), folders: Arc::default() }
    }

    fn has(&self, defect: Defect) -> bool {
        self.defect == Some(defect)
    }

    fn refuse(&self, parts: &RequestParts) -> Result<(), ExecutorError> {
        if self.has(Defect::Panics) && parts.content.contains("kill") {
            panic!("a defect");
        }
        if parts.interpreter.as_str() != "sh" && !self.has(Defect::RunsUnknownInterpreters) {
            return Err(ExecutorError::fault("unknown interpreter"));
        }
        if self.has(Defect::RefusesEmptyScript) && parts.content.is_empty() {
            return Err(ExecutorError::fault("nothing to run"));
        }
        let has_separator = parts.script_name.as_str().contains('/');
        if self.has(Defect::FileOriginIsAFault) && parts.origin == Origin::File && !has_separator {
            return Err(ExecutorError::fault("only stored scripts"));
        }
        if self.has(Defect::TakesNameForFileName) && has_separator {
            return Err(ExecutorError::fault("no such folder"));
        }
        Ok(())
    }

    fn folder(&self, parts: &RequestParts) -> Folder {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = match self.defect {
            Some(Defect::FolderByScriptName) => format!("of-{}", parts.script_name.as_str().replace('/', "_")),
            Some(Defect::FolderBySkillName) => format!("of-{}", parts.skill_name),
            _ => format!("run-{}", NEXT.fetch_add(1, Ordering::Relaxed)),
        };
        Folder::new(self.base.path().join(name), self.folders.clone(), self.has(Defect::LeavesTemp))
    }

    fn spawn(&self, parts: &RequestParts, temp: &Path, skill: &Path, mark: &str) -> Child {
        let mut script = skill.join(parts.script_path.as_str());
        fs::create_dir_all(script.parent().unwrap()).unwrap();
        fs::write(&script, parts.content.as_bytes()).unwrap();
        if self.has(Defect::RunsThePath) && parts.origin == Origin::Stored {
            script = parts.source_path.clone().unwrap_or(script);
        }
        #[expect(clippy::disallowed_methods, reason = "this executor exists for tests only")]
        let mut command = Command::new("/bin/sh");
        if !self.has(Defect::InheritsEnvironment) {
            command.env_clear();
        }
        if !self.has(Defect::ForgetsSkillName) {
            command.env("TRACON_SKILL_NAME", parts.skill_name.as_str());
        }
        command.env("TRACON_SKILL_TEMP", temp).env("PATH", "/usr/local/bin:/usr/bin:/bin").env("CONTRACT_RUN", mark);
        command.arg(script).args(&parts.argv).current_dir(temp);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    async fn stop(&self, end: &End, mark: &str) {
        match end {
            End::Exited(_) if self.has(Defect::LeavesDaemons) => {}
            End::TimedOut if self.has(Defect::OnlyAsksToEnd) => Traces::of(mark).ask_to_end().await,
            End::Cancelled if self.has(Defect::AnswersBeforeAllIsGone) => {
                let mark = mark.to_owned();
                tokio::spawn(async move {
                    tokio::time::sleep(Duration::from_secs(3)).await;
                    kill_all(&mark);
                });
            }
            _ => kill_all(mark),
        }
    }

    fn outcome(&self, end: &End, streams: &Streams, cap: usize) -> Result<Outcome, ExecutorError> {
        use std::os::unix::process::ExitStatusExt as _;

        let (mut stdout, mut stderr) = streams.captured(cap, self.defect);
        if self.has(Defect::MixesStreams) && matches!(end, End::Exited(status) if status.code() == Some(7)) {
            stdout.text.push_str(&std::mem::take(&mut stderr.text));
        }
        let outcome = match end {
            End::Cancelled if self.has(Defect::CancellationIsAResult) => Outcome::signalled(9, stdout, stderr),
            End::Cancelled => return Err(ExecutorError::cancelled()),
            End::TimedOut if self.has(Defect::TimeOutIsAnError) => return Err(ExecutorError::fault("too slow")),
            End::TimedOut if self.has(Defect::TimeOutLosesOutput) => {
                Outcome::timed_out(Default::default(), Default::default())
            }
            End::TimedOut => Outcome::timed_out(stdout, stderr),
            End::Exited(status) => match (status.code(), status.signal()) {
                (Some(7), _) if self.has(Defect::HidesExitCode) => Outcome::exited(1, stdout, stderr),
                (Some(code), _) => Outcome::exited(code, stdout, stderr),
                (None, Some(signal)) if self.has(Defect::HidesSignal) => Outcome::exited(128 + signal, stdout, stderr),
                (None, Some(signal)) => Outcome::signalled(signal, stdout, stderr),
                (None, None) => return Err(ExecutorError::fault("no status")),
            },
        };
        if self.has(Defect::TellsNoUsage) {
            return Ok(outcome);
        }
        // Not measured: that there are figures is what the contract looks at.
        Ok(outcome.with_usage(Usage { memory_peak_bytes: 1, cpu_time: Duration::ZERO, source: "none, a test" }))
    }
}

#[async_trait]
impl Executor for Reference {
    fn name(&self) -> &'static str {
        "reference"
    }

    async fn execute(&self, request: ExecutionRequest, cancel: Cancel) -> Result<Outcome, ExecutorError> {
        let _turn = if self.has(Defect::OneAtATime) { Some(self.turn.lock().await) } else { None };
        let parts = request.parts();
        self.refuse(parts)?;
        let cancel = if self.has(Defect::RunsWhatWasCancelled) && cancel.has_fired() { Cancel::new() } else { cancel };
        if cancel.has_fired() {
            return Err(ExecutorError::cancelled());
        }
        let folder = self.folder(parts);
        let skill = tempfile::tempdir_in(self.base.path()).unwrap();
        let mark = skill.path().display().to_string();
        let mut traces = Traces::of(&mark);
        let mut child = self.spawn(parts, &folder.path, skill.path(), &mark);
        let deadline = tokio::time::sleep(parts.timeout);
        if self.has(Defect::SurvivesBeingDropped) {
            traces.forget();
        }
        let streams = Streams::read(&mut child, parts.max_output_bytes, self.has(Defect::StopsReadingAtCap));
        let mut input = feed(child.stdin.take(), parts.arguments_json.clone(), self.defect);
        if self.has(Defect::WritesInputBeforeDeadline) {
            input.wait().await;
        }
        let end = tokio::select! {
            biased;
            () = cancel.fired() => End::Cancelled,
            () = deadline => End::TimedOut,
            status = child.wait() => End::Exited(status.unwrap()),
        };
        if self.has(Defect::BrokenPipeIsAFault) && matches!(end, End::Exited(_)) && input.is_broken().await {
            return Err(ExecutorError::fault("broken pipe"));
        }
        if self.has(Defect::WaitsForEndOfOutput) && matches!(end, End::Exited(_)) {
            streams.end(parts.timeout).await;
        }
        self.stop(&end, &mark).await;
        streams.end(Duration::from_secs(1)).await;
        traces.forget();
        self.outcome(&end, &streams, parts.max_output_bytes)
    }
}

/// A folder that is there until the last run that uses it has ended.
struct Folder {
    path: PathBuf,
    users: Arc<Mutex<HashMap<PathBuf, u32>>>,
    stays: bool,
}

impl Folder {
    fn new(path: PathBuf, users: Arc<Mutex<HashMap<PathBuf, u32>>>, stays: bool) -> Self {
        let mut locked = users.lock().unwrap();
        fs::create_dir_all(&path).unwrap();
        *locked.entry(path.clone()).or_default() += 1;
        drop(locked);
        Self { path, users, stays }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let mut users = self.users.lock().unwrap();
        let count = users.entry(self.path.clone()).or_default();
        *count -= 1;
        if *count == 0 && !self.stays {
            // A process that a defect left behind may still write there.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}
