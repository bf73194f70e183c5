//! A job: one request, made into what runs in a sandbox or in a folder of the host.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use belljar_executor::{ExecutionRequest, FileTree, Interpreter, Limits, LogicalPath, RuntimeName, WorkingDirectory};

use crate::failure::RunError;
use crate::places::Places;
use crate::runtimes::is_python;

/// What runs, with what, and how much of it is kept.
#[derive(Clone, Debug)]
pub struct Job {
    pub(crate) program: Program,
    pub(crate) argv: Vec<String>,
    pub(crate) environment: Vec<(&'static str, String)>,
    pub(crate) folder: String,
    pub(crate) files: FileTree,
    pub(crate) input: Option<Arc<str>>,
    pub(crate) limits: Limits,
    pub(crate) timeout: Duration,
    pub(crate) cap: usize,
}

/// Which program is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Program {
    /// The interpreter at this path.
    At(String),
    /// `init` itself.
    Init,
}

impl Job {
    /// The job of a request, with the interpreter that was found for it.
    ///
    /// # Errors
    /// [`RunError::Fault`] when the content is not that of the file, or when an argument cannot be passed to
    /// a program.
    pub(crate) fn of_request(request: &ExecutionRequest, interpreter: &str, places: &Places) -> Result<Self, RunError> {
        let parts = request.parts();
        let script = format!("{}/{}", places.skill(), parts.script_path);
        let folder = match parts.cwd {
            WorkingDirectory::Workspace => places.workspace(),
            WorkingDirectory::Skill => places.skill(),
            WorkingDirectory::Script => script.rsplit_once('/').map_or(places.skill(), |(folder, _)| folder.to_owned()),
        };
        if parts.argv.iter().any(|argument| argument.contains('\0')) {
            return Err(RunError::Fault("an argument holds a NUL character".to_owned()));
        }
        let mut environment = places.environment(is_python(interpreter));
        environment.extend(request.contract_environment(&places.temp()));
        environment.sort_unstable();
        let argv = [interpreter.to_owned(), script].into_iter().chain(parts.argv.iter().cloned()).collect();
        Ok(Self {
            program: Program::At(interpreter.to_owned()),
            argv,
            environment,
            folder,
            files: files(&parts.files, &parts.script_path, &parts.content)?,
            input: parts.arguments_json.clone(),
            limits: parts.limits.clone(),
            timeout: parts.timeout,
            cap: parts.max_output_bytes,
        })
    }

    /// The job that checks its sandbox from inside: a script like any other, but for its program.
    pub(crate) fn self_probe(limits: Limits, timeout: Duration) -> Self {
        let mut job = Self::trial(&Places::sandbox(), timeout);
        job.argv.push(belljar_init::SELF_PROBE.to_owned());
        let probe_file = LogicalPath::parse("scripts/probe.sh").ok().map(|path| (path, Arc::from(&b"#!/bin/sh\n"[..])));
        Self { files: FileTree::new(probe_file.into_iter().collect()), limits, ..job }
    }

    /// A job that does nothing, and so shows that one can be started.
    pub(crate) fn trial(places: &Places, timeout: Duration) -> Self {
        let mut environment = places.environment(false);
        environment.sort_unstable();
        Self {
            program: Program::Init,
            argv: vec!["belljar-init".to_owned()],
            environment,
            folder: places.workspace(),
            files: FileTree::new(BTreeMap::new()),
            input: None,
            limits: Limits::default(),
            timeout,
            cap: 256 * 1024,
        }
    }

    /// The time limit in whole seconds, rounded up.
    pub(crate) fn timeout_seconds(&self) -> u64 {
        self.timeout.as_secs() + u64::from(self.timeout.subsec_nanos() > 0)
    }
}

/// The path of an interpreter: that of a runtime, or its own where a script would see it.
pub(crate) fn interpreter(
    wanted: &Interpreter,
    runtimes: &BTreeMap<RuntimeName, String>,
    is_visible: impl Fn(&str) -> bool,
) -> Option<String> {
    match wanted {
        Interpreter::Runtime(name) => runtimes.get(name).cloned(),
        Interpreter::Path(path) => is_visible(path).then(|| path.to_string()),
    }
}

/// The files of the revision. What runs is the request's content: a tree with something else at that path
/// is not the one that was approved.
fn files(tree: &FileTree, path: &LogicalPath, content: &str) -> Result<FileTree, RunError> {
    match tree.get(path) {
        Some(bytes) if **bytes == *content.as_bytes() => Ok(tree.clone()),
        Some(_) => Err(RunError::Fault("the script's content is not that of its file in the revision".to_owned())),
        None => {
            let mut files: BTreeMap<_, _> = tree.iter().map(|(path, bytes)| (path.clone(), bytes.clone())).collect();
            files.insert(path.clone(), Arc::from(content.as_bytes()));
            Ok(FileTree::new(files))
        }
    }
}
