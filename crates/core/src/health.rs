//! Whether runs can be started: the executor's last probe and the last audit write.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use belljar_executor::{Cause, Executor, Report, Requirement, Unavailable};

/// How long a probe may take. It tries things out, and a host may be busy.
const PATIENCE: Duration = Duration::from_secs(30);

/// What the last probe said, and whether the trail takes entries.
#[derive(Debug)]
pub struct Health {
    require: Requirement,
    probed: RwLock<Result<Arc<Report>, Unavailable>>,
    audit_failed: RwLock<bool>,
    pub(crate) changed: Arc<tokio::sync::Notify>,
}

impl Health {
    /// Before the first probe nothing is ready.
    pub(crate) fn new(require: Requirement) -> Self {
        let unprobed = Unavailable {
            cause: Cause::Other,
            control: None,
            message: "the executor has not been probed yet".into(),
            remedy: "wait for the first probe".into(),
        };
        Self { require, probed: RwLock::new(Err(unprobed)), audit_failed: RwLock::new(false), changed: Arc::default() }
    }

    /// Probes the executor and compares its report with what is required. One that panics or does not
    /// answer in time is no sandbox; whoever probes goes on.
    pub async fn probe(&self, executor: &Arc<dyn Executor>) -> Result<Arc<Report>, Unavailable> {
        let found = ask(executor).await.and_then(|report| self.judge(report));
        self.probed.write().unwrap_or_else(PoisonError::into_inner).clone_from(&found);
        found
    }

    fn judge(&self, report: Report) -> Result<Arc<Report>, Unavailable> {
        let shortfalls = self.require.shortfalls(&report);
        let Some(first) = shortfalls.first() else { return Ok(Arc::new(report)) };
        let all: Vec<String> = shortfalls.iter().map(ToString::to_string).collect();
        let remedy = shortfalls.iter().find_map(|shortfall| shortfall.remedy.clone()).unwrap_or_else(|| {
            format!(
                "accept it with `isolation.require.{} = \"{}\"` in the configuration, or run on a host that has it",
                first.control,
                first.found.as_str()
            )
        });
        Err(Unavailable { cause: Cause::BelowMinimum, control: Some(first.control), message: all.join("; "), remedy })
    }

    /// The last good report, or why there is none.
    pub fn report(&self) -> Result<Arc<Report>, Unavailable> {
        self.probed.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The isolation was lost: nothing is ready until a probe is good again.
    pub(crate) fn lost(&self, unavailable: Unavailable) {
        *self.probed.write().unwrap_or_else(PoisonError::into_inner) = Err(unavailable);
        self.changed.notify_one();
    }

    pub(crate) fn audit_written(&self, written: bool) {
        *self.audit_failed.write().unwrap_or_else(PoisonError::into_inner) = !written;
    }

    /// Whether runs can be started, as far as is known: the last probe good and the last append written.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.report().is_ok() && !*self.audit_failed.read().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Probes in a task of its own, so that a panic ends there.
async fn ask(executor: &Arc<dyn Executor>) -> Result<Report, Unavailable> {
    let asked = Arc::clone(executor);
    let mut probing = tokio::spawn(async move { asked.probe().await });
    let message = match tokio::time::timeout(PATIENCE, &mut probing).await {
        Ok(Ok(found)) => return found,
        Ok(Err(panic)) => {
            tracing::error!(%panic, "the executor's probe panicked");
            format!("the probe of the executor {} panicked", executor.name())
        }
        Err(_) => {
            probing.abort();
            format!("the probe of the executor {} did not answer within {} s", executor.name(), PATIENCE.as_secs())
        }
    };
    let remedy = "see the log of the executor, mend it, and probe again".into();
    Err(Unavailable { cause: Cause::Other, control: None, message, remedy })
}
