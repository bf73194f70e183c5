//! The `bubblewrap` executor: `bwrap` makes the namespaces, the policy of this project does the rest.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use belljar_executor::{Cancel, ExecutionRequest, Executor, ExecutorError, Outcome, Report, Unavailable};
use belljar_sandbox::{Driver, DriverOptions, Plan, RunError};
use tokio::sync::{Mutex, OnceCell};

use crate::answers::{error_of, opened, outcome_of};

/// How the executor is set up. The default is right for a service.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BubblewrapOptions {
    /// The `bwrap` program, when it is not in `/usr/bin`, `/usr/local/bin` or `/bin`.
    pub program: Option<PathBuf>,
    /// Where uids of runs are locked when the service is root; `/run/belljar` without it.
    pub runtime_folder: Option<PathBuf>,
    /// How long a probe may take.
    pub probe_timeout: Duration,
}

impl Default for BubblewrapOptions {
    fn default() -> Self {
        Self { program: None, runtime_folder: None, probe_timeout: Duration::from_secs(10) }
    }
}

/// Runs scripts in sandboxes made with bubblewrap.
#[derive(Debug)]
pub struct Bubblewrap {
    options: BubblewrapOptions,
    driver: OnceCell<Arc<Driver>>,
    /// Of the last probe that succeeded; nothing runs while there is none.
    report: Mutex<Option<Report>>,
}

impl Bubblewrap {
    /// An executor that looks at the host when it is first asked.
    #[must_use]
    pub fn new(options: BubblewrapOptions) -> Self {
        Self { options, driver: OnceCell::new(), report: Mutex::new(None) }
    }

    /// What a request would get, without running it.
    ///
    /// # Errors
    /// [`ExecutorError`] as [`execute`](Executor::execute) would give it before anything starts.
    pub async fn explain(&self, request: &ExecutionRequest) -> Result<Plan, ExecutorError> {
        let driver = self.driver().await.map_err(ExecutorError::unavailable)?;
        let job = driver.job(request).map_err(error_of)?;
        Ok(driver.plan(&job))
    }

    async fn driver(&self) -> Result<Arc<Driver>, Unavailable> {
        let open = || async {
            let options = DriverOptions {
                program: self.options.program.clone(),
                runtime_folder: self.options.runtime_folder.clone(),
            };
            // Reads files and starts a program.
            opened(move || Driver::open(&options)).await.map(Arc::new)
        };
        self.driver.get_or_try_init(open).await.cloned()
    }

    /// The report that runs now carry: of the last good probe, or of one made now.
    async fn standing_report(&self, driver: &Driver) -> Result<Report, Unavailable> {
        // Held while probing, so that many first runs wait for one probe.
        let mut report = self.report.lock().await;
        match &*report {
            Some(report) => Ok(report.clone()),
            None => Ok(report.insert(driver.probe(self.options.probe_timeout).await?).clone()),
        }
    }
}

#[async_trait]
impl Executor for Bubblewrap {
    fn name(&self) -> &'static str {
        "bubblewrap"
    }

    async fn probe(&self) -> Result<Report, Unavailable> {
        let found = match self.driver().await {
            Ok(driver) => driver.probe(self.options.probe_timeout).await,
            Err(unavailable) => Err(unavailable),
        };
        *self.report.lock().await = found.as_ref().ok().cloned();
        found
    }

    async fn execute(&self, request: ExecutionRequest, cancel: Cancel) -> Result<Outcome, ExecutorError> {
        let driver = self.driver().await.map_err(ExecutorError::unavailable)?;
        let report = self.standing_report(&driver).await.map_err(ExecutorError::unavailable)?;
        let job = driver.job(&request).map_err(error_of)?;
        match driver.run(&job, &cancel).await {
            Ok(finished) => Ok(outcome_of(finished).with_isolation(report)),
            Err(error) => {
                if matches!(error, RunError::Unavailable(_)) {
                    // What held before may hold no more: the next run looks again.
                    *self.report.lock().await = None;
                }
                Err(error_of(error))
            }
        }
    }
}
