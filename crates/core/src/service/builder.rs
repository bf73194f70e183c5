//! Composition: what a service is made of. Nothing is checked until it is built.

use std::path::PathBuf;
use std::sync::Arc;

use belljar_executor::{Executor, Requirement};

use crate::options::OptionsDraft;
use crate::ports::Ports;
use crate::skill::SkillFolder;

/// Describes a service.
#[derive(Debug)]
pub struct Builder {
    pub(super) draft: OptionsDraft,
    pub(super) ports: Option<Ports>,
    pub(super) default_executor: Option<Arc<dyn Executor>>,
    pub(super) executors: Vec<Arc<dyn Executor>>,
    pub(super) require_custom: bool,
    pub(super) registered: Vec<SkillFolder>,
    pub(super) faults: Vec<String>,
}

impl Builder {
    pub(super) fn new() -> Self {
        let draft = OptionsDraft::default();
        Self {
            draft,
            ports: None,
            default_executor: None,
            executors: Vec::new(),
            require_custom: false,
            registered: Vec::new(),
            faults: Vec::new(),
        }
    }

    /// Takes these options, replacing what was said before.
    ///
    /// ```
    /// use belljar_core::Belljar;
    /// use belljar_core::options::OptionsDraft;
    ///
    /// let draft = OptionsDraft { timeout_max_seconds: 300, max_concurrent_total: 16, ..OptionsDraft::default() };
    /// let builder = Belljar::builder().options(draft).enable();
    /// ```
    #[must_use]
    pub fn options(mut self, draft: OptionsDraft) -> Self {
        self.draft = draft;
        self
    }

    /// Turns script execution on. Without it nothing runs, and nothing that concerns scripts is checked.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use belljar_core::Belljar;
    ///
    /// let error = Belljar::builder().enable().build().await.unwrap_err();
    /// // All that is missing is told at once.
    /// for part in ["no executor", "no store", "platform_isolation_acknowledged"] {
    ///     assert!(error.to_string().contains(part), "{error}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn enable(mut self) -> Self {
        self.draft.enabled = true;
        self
    }

    /// Says that somebody answers for the isolation: it cannot be verified from outside, whatever the executor.
    ///
    /// ```
    /// let builder = belljar_core::Belljar::builder().enable().acknowledge_platform_isolation();
    /// ```
    #[must_use]
    pub const fn acknowledge_platform_isolation(mut self) -> Self {
        self.draft.platform_isolation_acknowledged = true;
        self
    }

    /// Lets stored scripts run, registered ones too; the scripts of file skills need it not.
    ///
    /// ```
    /// let builder = belljar_core::Belljar::builder().enable().allow_stored_scripts();
    /// ```
    #[must_use]
    pub const fn allow_stored_scripts(mut self) -> Self {
        self.draft.allow_stored_scripts = true;
        self
    }

    /// Allows a language: its key, and the runtime name or interpreter path that runs it. A value with a `/`
    /// is a path; any other is a name that the executor must know.
    ///
    /// ```
    /// let builder = belljar_core::Belljar::builder().interpreter("py", "python-3.12").interpreter("sh", "/usr/bin/dash");
    /// ```
    #[must_use]
    pub fn interpreter(mut self, language: &str, value: &str) -> Self {
        self.draft.interpreters.insert(language.to_owned(), value.to_owned());
        self
    }

    /// Where skills, grants, the trail and records are kept. `belljar-store` has them over SQLite.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use belljar_core::Belljar;
    /// use belljar_store::{Store, StoreOptions};
    ///
    /// # let state = tempfile::tempdir()?;
    /// let store = Store::open(StoreOptions::new(state.path())).await?;
    /// let belljar = Belljar::builder().ports(store.ports()).build().await?;
    /// assert!(!belljar.options().enabled(), "nothing runs until it is enabled");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn ports(mut self, ports: Ports) -> Self {
        self.ports = Some(ports);
        self
    }

    /// What a distribution brings; any other executor wins over it, set before or after.
    ///
    /// ```
    /// # use belljar_core::Belljar;
    /// # use belljar_executor::{Cancel, ExecutionRequest, Executor, ExecutorError, Outcome};
    /// # #[derive(Debug)]
    /// # struct Runner;
    /// # #[belljar_executor::async_trait]
    /// # impl Executor for Runner {
    /// #     fn name(&self) -> &str { "runner" }
    /// #     async fn execute(&self, _: ExecutionRequest, _: Cancel) -> Result<Outcome, ExecutorError> {
    /// #         Err(ExecutorError::unsupported_origin())
    /// #     }
    /// # }
    /// // In a distribution:
    /// let builder = Belljar::builder().default_executor(Runner);
    /// // Whoever builds on it adds theirs:
    /// let builder = builder.executor(Runner);
    /// ```
    #[must_use]
    pub fn default_executor(mut self, executor: impl Executor) -> Self {
        self.default_executor = Some(Arc::new(executor));
        self
    }

    /// The executor to use. Naming two is a start-up error.
    ///
    /// ```
    /// # use belljar_core::Belljar;
    /// # use belljar_executor::{Cancel, ExecutionRequest, Executor, ExecutorError, Outcome};
    /// # #[derive(Debug)]
    /// # struct Runner;
    /// # #[belljar_executor::async_trait]
    /// # impl Executor for Runner {
    /// #     fn name(&self) -> &str { "runner" }
    /// #     async fn execute(&self, _: ExecutionRequest, _: Cancel) -> Result<Outcome, ExecutorError> {
    /// #         Err(ExecutorError::unsupported_origin())
    /// #     }
    /// # }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let state = tempfile::tempdir()?;
    /// # let ports = belljar_store::Store::open(belljar_store::StoreOptions::new(state.path())).await?.ports();
    /// let belljar = Belljar::builder().executor(Runner).ports(ports.clone()).build().await?;
    /// assert_eq!(belljar.executor_name(), "runner");
    /// let twice = Belljar::builder().executor(Runner).executor(Runner).ports(ports).build().await;
    /// assert!(twice.unwrap_err().to_string().contains("two executors"));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn executor(mut self, executor: impl Executor) -> Self {
        self.executors.push(Arc::new(executor));
        self
    }

    /// Fails the start while the default executor is what resolves: a guard for programs that must not run
    /// scripts where the distribution would.
    ///
    /// ```
    /// # use belljar_core::Belljar;
    /// # use belljar_executor::{Cancel, ExecutionRequest, Executor, ExecutorError, Outcome};
    /// # #[derive(Debug)]
    /// # struct Runner;
    /// # #[belljar_executor::async_trait]
    /// # impl Executor for Runner {
    /// #     fn name(&self) -> &str { "runner" }
    /// #     async fn execute(&self, _: ExecutionRequest, _: Cancel) -> Result<Outcome, ExecutorError> {
    /// #         Err(ExecutorError::unsupported_origin())
    /// #     }
    /// # }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let error = Belljar::builder().default_executor(Runner).require_custom_executor().build().await.unwrap_err();
    /// assert!(error.to_string().contains("the seam `Executor` resolves to the default `runner`"), "{error}");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn require_custom_executor(mut self) -> Self {
        self.require_custom = true;
        self
    }

    /// Registers a skill that comes with the program: every tenant sees it, before any stored or file skill
    /// of its name. Its scripts count as stored ones and need a grant like them. Two of one name are a
    /// start-up error.
    ///
    /// ```
    /// use belljar_core::Belljar;
    /// use belljar_core::skill::{Strictness, from_files};
    ///
    /// let index = b"---\nname: greeting\ndescription: Says hello. Use when somebody arrives.\n---\n";
    /// let files = [("SKILL.md", &index[..]), ("scripts/hello.sh", b"echo hello\n")];
    /// let skill = from_files(files, Strictness::Strict).expect("a skill");
    /// let builder = Belljar::builder().register_skill(skill);
    /// ```
    #[must_use]
    pub fn register_skill(mut self, skill: SkillFolder) -> Self {
        self.registered.push(skill);
        self
    }

    /// Adds a folder of file skills: each skill is a folder named like it, in the root or one level below.
    /// The path is absolute. What a root holds is read anew for every run.
    ///
    /// ```
    /// let builder = belljar_core::Belljar::builder().skill_root("/srv/skills").pin_file_scripts();
    /// ```
    #[must_use]
    pub fn skill_root(mut self, root: impl Into<PathBuf>) -> Self {
        self.draft.skill_roots.push(root.into());
        self
    }

    /// Wants a grant for a script of a file skill to be at the pin of what would run, as it is for stored ones.
    #[must_use]
    pub const fn pin_file_scripts(mut self) -> Self {
        self.draft.pin_file_scripts = true;
        self
    }

    /// What the executor's report must say for anything to run. An executor that isolates nothing needs
    /// [`Requirement::only`] with no minimums: somebody has to say that this is wanted.
    ///
    /// ```
    /// use std::collections::BTreeMap;
    ///
    /// use belljar_core::Belljar;
    /// use belljar_executor::{Control, Minimum, Requirement};
    ///
    /// // More than the default:
    /// let memory = BTreeMap::from([(Control::Memory, Minimum::Enforced)]);
    /// let builder = Belljar::builder().require_isolation(Requirement::with(&memory));
    /// // Nothing at all, for scripts that their author trusts:
    /// let builder = Belljar::builder().require_isolation(Requirement::only(&BTreeMap::new()));
    /// ```
    #[must_use]
    pub fn require_isolation(mut self, requirement: Requirement) -> Self {
        self.draft.require = requirement;
        self
    }

    /// Faults that whoever composes the service found itself; they count while script execution is on, and
    /// are reported with all others.
    #[must_use]
    pub fn faults(mut self, faults: impl IntoIterator<Item = String>) -> Self {
        self.faults.extend(faults);
        self
    }
}
