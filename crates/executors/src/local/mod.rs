//! The `local` executor: a script is a plain process of this host, with the identity of the service.
//!
//! **Nothing isolates it.** It reads and writes whatever the service may, it reaches the network, and no
//! limit but the time-out and the output cap holds. The report says so for every control. It is for scripts
//! that their author has written and trusts, on a machine of their own; nothing falls back to it.
//!
//! What it does promise is the contract of every executor. The script gets a folder of its own with the
//! revision in it, none of the service's variables and none of its descriptors. Beside it runs a shepherd,
//! the nearest parent of every process that loses its own, which kills them all when the script has ended,
//! at the time-out, when the caller cancels, and when the service goes away.
//!
//! Where that ends:
//!
//! - An answer waits two seconds for the folder to be removed. One that takes longer goes afterwards; one that
//!   cannot be removed (a file made immutable, a mount) stays, and the service's log says so.
//! - A script that kills its shepherd makes the run a fault. The service then kills what is in the script's
//!   session, what has the run's variables in its environment, and what descends from these. A process that
//!   has left all three is not found. A shepherd that a script keeps stopping is treated the same way. When script and service are killed together with the shepherd, nobody
//!   looks.
//! - A process that has gained another identity (`sudo`) may be beyond the shepherd's rights: a fault too.
//! - What a script asks another service of the host to start (`systemd-run`, `at`, a container engine) is
//!   no process of the run.

mod report;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use belljar_executor::{Cancel, ExecutionRequest, Executor, ExecutorError, Outcome, Report, Unavailable};
use belljar_sandbox::LocalDriver;
use tokio::sync::OnceCell;

use crate::answers::{error_of, opened, outcome_of};

/// How the executor is set up.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LocalOptions {
    /// Where every run gets a folder of its own, for its owner alone and removed at the end; the system's
    /// temporary folder without it. Must be there; its path is text without a colon.
    pub folder: Option<PathBuf>,
    /// How long a probe may take.
    pub probe_timeout: Duration,
}

impl Default for LocalOptions {
    fn default() -> Self {
        Self { folder: None, probe_timeout: Duration::from_secs(10) }
    }
}

/// Runs scripts as plain processes of this host. **Nothing isolates them.**
///
/// Its report names every control as missing, so it does not meet the default
/// [`Requirement`](belljar_executor::Requirement), and every outcome carries that report.
#[derive(Debug)]
pub struct Local {
    options: LocalOptions,
    driver: OnceCell<Arc<LocalDriver>>,
}

impl Local {
    /// An executor that looks at the host when it is first asked.
    #[must_use]
    pub fn new(options: LocalOptions) -> Self {
        Self { options, driver: OnceCell::new() }
    }

    async fn driver(&self) -> Result<Arc<LocalDriver>, Unavailable> {
        let open = || async {
            let folder = self.options.folder.clone();
            opened(move || LocalDriver::open(folder.as_deref())).await.map(Arc::new)
        };
        self.driver.get_or_try_init(open).await.cloned()
    }
}

#[async_trait]
impl Executor for Local {
    fn name(&self) -> &'static str {
        "local"
    }

    async fn probe(&self) -> Result<Report, Unavailable> {
        let driver = self.driver().await?;
        driver.probe(self.options.probe_timeout).await?;
        Ok(report::of(driver.runtimes()))
    }

    async fn execute(&self, request: ExecutionRequest, cancel: Cancel) -> Result<Outcome, ExecutorError> {
        let driver = self.driver().await.map_err(ExecutorError::unavailable)?;
        let finished = driver.run(&request, &cancel).await.map_err(error_of)?;
        Ok(outcome_of(finished).with_isolation(report::of(driver.runtimes())))
    }
}
