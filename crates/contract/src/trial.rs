//! Requests of the contract, and the guard that no executor can make a clause wait for ever.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use belljar_executor::{
    Cancel, Ending, ExecutionId, ExecutionRequest, ExecutorError, FileTree, Interpreter, InvalidName, LanguageKey,
    Limits, LimitsClass, LogicalPath, Origin, Outcome, RequestParts, ScriptName, SkillName, TenantId, WorkingDirectory,
};

use crate::verdict::demand;
use crate::{Body, Checked, Deviation, Subject};

/// A script that exited with 0.
pub(crate) const EXITED_0: Ending = Ending::Exited { code: 0, signal: None };

/// How long a host waits past the time-out before it gives up.
const GRACE: Duration = Duration::from_secs(5);

static NEXT: AtomicU32 = AtomicU32::new(0);

/// One request in the making.
pub(crate) struct Trial<'a> {
    subject: &'a Subject,
    pub(crate) parts: RequestParts,
}

impl<'a> Trial<'a> {
    /// A stored script with this body.
    pub(crate) fn of(subject: &'a Subject, body: Body) -> Result<Self, Deviation> {
        Self::with_content(subject, &subject.text_of(body)?)
    }

    /// A stored script with this text.
    pub(crate) fn with_content(subject: &'a Subject, content: &str) -> Result<Self, Deviation> {
        let parts = parts(subject, content)
            .map_err(|error| Deviation::fail("a subject whose names parse", error.to_string()))?;
        Ok(Self { subject, parts })
    }

    pub(crate) fn input(mut self, text: &str) -> Self {
        self.parts.arguments_json = Some(text.into());
        self
    }

    pub(crate) fn cap(mut self, bytes: usize) -> Self {
        self.parts.max_output_bytes = bytes;
        self
    }

    pub(crate) fn timeout(mut self, seconds: u64) -> Self {
        self.parts.timeout = Duration::from_secs(seconds);
        self
    }

    pub(crate) fn word(self, word: &str) -> Self {
        let content = self.parts.content.replace("@WORD@", word);
        let path = self.parts.script_path.clone();
        self.at(path, &content)
    }

    /// As a script of this origin, under this name, which is its path inside the skill too.
    pub(crate) fn named(mut self, origin: Origin, name: &str) -> Result<Self, Deviation> {
        let wrong = |error: InvalidName| Deviation::fail("a subject whose names parse", error.to_string());
        let path = LogicalPath::parse(name).map_err(wrong)?;
        // A stored script's name is a plain file name.
        let name = if origin == Origin::File { name } else { path.file_name() };
        self.parts.script_name = ScriptName::parse(name).map_err(wrong)?;
        self.parts.origin = origin;
        let content = self.parts.content.clone();
        Ok(self.at(path, &content))
    }

    fn at(mut self, path: LogicalPath, content: &str) -> Self {
        self.parts.files = FileTree::new(BTreeMap::from([(path.clone(), Arc::from(content.as_bytes()))]));
        self.parts.script_path = path;
        self.parts.content = content.into();
        self
    }

    /// Runs and gives whatever the executor says, in the time that a host waits.
    pub(crate) async fn execute(self, cancel: Cancel) -> Result<Result<Outcome, ExecutorError>, Deviation> {
        let patience = self.parts.timeout + GRACE;
        let run = self.subject.executor.execute(ExecutionRequest::new(self.parts), cancel);
        tokio::time::timeout(patience, run).await.map_err(|_| {
            Deviation::fail("an answer by the time-out and five seconds", format!("none after {patience:?}"))
        })
    }

    /// Runs and wants an outcome.
    pub(crate) async fn run(self) -> Result<Outcome, Deviation> {
        let answer = self.execute(Cancel::new()).await?;
        answer.map_err(|error| Deviation::fail("an outcome", told(&error)))
    }

    /// Runs, wants exit code 0 and gives what was printed.
    pub(crate) async fn output(self) -> Result<String, Deviation> {
        let outcome = self.run().await?;
        expect_ending(&outcome, EXITED_0)?;
        Ok(outcome.stdout().text.clone())
    }
}

fn parts(subject: &Subject, content: &str) -> Result<RequestParts, InvalidName> {
    let language = &subject.language;
    let path = LogicalPath::parse(&format!("scripts/main.{language}"))?;
    Ok(RequestParts {
        tenant_id: TenantId::parse("contract")?,
        run_id: None,
        execution_id: ExecutionId::parse(&format!("contract-{}", NEXT.fetch_add(1, Ordering::Relaxed)))?,
        skill_name: SkillName::parse("contract-skill")?,
        script_name: ScriptName::parse(path.file_name())?,
        script_path: path.clone(),
        origin: Origin::Stored,
        interpreter: Interpreter::parse(&subject.interpreter)?,
        language: LanguageKey::parse(language)?,
        extension: language.clone(),
        content: content.into(),
        source_path: None,
        arguments_json: None,
        argv: Vec::new(),
        cwd: WorkingDirectory::Workspace,
        standalone: false,
        files: FileTree::new(BTreeMap::from([(path, Arc::from(content.as_bytes()))])),
        limits_class: LimitsClass::parse("standard")?,
        limits: Limits::default(),
        timeout: Duration::from_secs(20),
        max_output_bytes: 262_144,
    })
}

/// An error with its cause, for the author of the executor.
pub(crate) fn told(error: &ExecutorError) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("the error {} ({source})", error.kind()),
        None => format!("the error {}", error.kind()),
    }
}

/// Wants this ending.
pub(crate) fn expect_ending(outcome: &Outcome, ending: Ending) -> Checked {
    demand(outcome.ending() == ending, &format!("{ending:?}"), || {
        format!("{:?} with standard error {:?}", outcome.ending(), shown(&outcome.stderr().text))
    })
}

/// Wants this text.
pub(crate) fn expect_text(what: &str, found: &str, wanted: &str) -> Checked {
    demand(found == wanted, &format!("{what} to be {:?}", shown(wanted)), || format!("{:?}", shown(found)))
}

/// The beginning of a text, short enough for a table.
pub(crate) fn shown(text: &str) -> &str {
    &text[..text.floor_char_boundary(200)]
}

/// Seconds to sleep for, about 47, that no other process sleeps for.
pub(crate) fn unique_word() -> String {
    format!("47.{:07}{:04}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// A file of this host that is there until dropped.
pub(crate) struct HostFile(PathBuf);

impl HostFile {
    pub(crate) fn new(content: &str) -> Result<Self, Deviation> {
        let name = format!("belljar-contract-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        match std::fs::write(&path, content) {
            Ok(()) => Ok(Self(path)),
            Err(error) => Err(Deviation::skip(format!("no file can be made in the temporary folder: {error}"))),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for HostFile {
    fn drop(&mut self) {
        // Nothing depends on it: the folder is a temporary one.
        let _ = std::fs::remove_file(&self.0);
    }
}
