//! Requests, for the one executor that all tests of a binary share, and a look at the host's processes.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use belljar_executor::{
    Cancel, Ending, ExecutionId, ExecutionRequest, Executor, ExecutorError, FileTree, Interpreter, LanguageKey, Limits,
    LimitsClass, LogicalPath, Origin, Outcome, RequestParts, ScriptName, SkillName, TenantId, WorkingDirectory,
};

pub(crate) use crate::executor;

/// A script under test.
#[derive(Clone)]
pub(crate) struct Script(pub(crate) RequestParts);

pub(crate) fn script(runtime: &str, content: &str) -> Script {
    let language = if runtime.starts_with("python") { "py" } else { "sh" };
    let path = LogicalPath::parse(&format!("scripts/main.{language}")).unwrap();
    Script(RequestParts {
        tenant_id: TenantId::parse("local").unwrap(),
        run_id: None,
        execution_id: ExecutionId::parse("e1").unwrap(),
        skill_name: SkillName::parse("demo").unwrap(),
        script_name: ScriptName::parse("main").unwrap(),
        script_path: path.clone(),
        origin: Origin::Stored,
        interpreter: Interpreter::parse(runtime).unwrap(),
        language: LanguageKey::parse(language).unwrap(),
        extension: language.into(),
        content: content.into(),
        source_path: None,
        arguments_json: None,
        argv: Vec::new(),
        cwd: WorkingDirectory::Workspace,
        standalone: false,
        files: FileTree::new(BTreeMap::from([(path, Arc::from(content.as_bytes()))])),
        limits_class: LimitsClass::parse("standard").unwrap(),
        limits: Limits::default(),
        timeout: Duration::from_secs(20),
        max_output_bytes: 262_144,
    })
}

pub(crate) fn python(content: &str) -> Script {
    script("python", content)
}

pub(crate) fn bash(content: &str) -> Script {
    script("bash", content)
}

impl Script {
    pub(crate) fn input(mut self, text: &str) -> Self {
        self.0.arguments_json = Some(text.into());
        self
    }

    pub(crate) fn cap(mut self, bytes: usize) -> Self {
        self.0.max_output_bytes = bytes;
        self
    }

    pub(crate) fn timeout(mut self, milliseconds: u64) -> Self {
        self.0.timeout = Duration::from_millis(milliseconds);
        self
    }

    pub(crate) fn file(mut self, path: &str, content: &[u8]) -> Self {
        let mut files: BTreeMap<_, _> =
            self.0.files.iter().map(|(path, bytes)| (path.clone(), bytes.clone())).collect();
        files.insert(LogicalPath::parse(path).unwrap(), Arc::from(content));
        self.0.files = FileTree::new(files);
        self
    }

    pub(crate) async fn execute(self, cancel: Cancel) -> Result<Outcome, ExecutorError> {
        executor().execute(ExecutionRequest::new(self.0), cancel).await
    }

    pub(crate) async fn run(self) -> Outcome {
        match self.execute(Cancel::new()).await {
            Ok(outcome) => outcome,
            Err(error) => panic!("{error}: {:?}", std::error::Error::source(&error).map(ToString::to_string)),
        }
    }

    /// Runs a script that must exit 0, and returns what it printed.
    pub(crate) async fn output(self) -> String {
        let outcome = self.run().await;
        assert_eq!(outcome.ending(), Ending::Exited { code: 0, signal: None }, "{outcome:#?}");
        outcome.stdout().text.clone()
    }
}

/// A word that stands in the command line of what a test starts, to look for it on the host.
pub(crate) fn unique_seconds() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("{}.{}", 900 + NEXT.fetch_add(1, Ordering::Relaxed), std::process::id())
}

/// Whether a process of this host has the word in its command line.
pub(crate) fn is_running(word: &str) -> bool {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    processes
        .filter(|entry| entry.file_name().to_string_lossy().parse::<u32>().is_ok_and(|pid| pid != std::process::id()))
        .filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
        .any(|line| String::from_utf8_lossy(&line).contains(word))
}

pub(crate) async fn wait_until(what: &str, condition: impl Fn() -> bool) {
    for _ in 0..400 {
        if condition() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("not in time: {what}");
}

/// This test binary, to run one test of it in a process of its own.
#[expect(clippy::disallowed_methods, reason = "a test starts itself again")]
pub(crate) fn itself(test: &str) -> std::process::Command {
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]);
    command
}

/// After many runs this process holds what it held before. `test` is the one that calls this.
pub(crate) async fn nothing_accumulates(test: &'static str) {
    let count = |folder: &str| std::fs::read_dir(folder).unwrap().count();
    // Other tests of this binary run at the same time, so this one looks from a process of its own.
    if std::env::var_os("BELLJAR_TEST_ALONE").is_none() {
        let status = tokio::task::spawn_blocking(move || itself(test).env("BELLJAR_TEST_ALONE", "1").status());
        assert!(status.await.unwrap().unwrap().success());
        return;
    }
    script("sh", "exit 0").run().await;
    let before = (count("/proc/self/fd"), count("/proc/self/task"));
    for round in 0..50 {
        let timeout = if round % 10 == 0 { 1 } else { 10_000 };
        script("sh", "cat; echo x").timeout(timeout).input("y").run().await;
    }
    assert_eq!((count("/proc/self/fd"), count("/proc/self/task")), before);
    let children = std::fs::read_to_string("/proc/self/task/self/children").unwrap_or_default();
    assert_eq!(children, "", "zombies");
}
