//! From a description to a running service: everything is checked as a whole before anything starts.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Weak};
use std::time::Duration;

use belljar_executor::{Executor, Interpreter, Report, SkillName};

use super::Belljar;
use super::builder::Builder;
use crate::health::Health;
use crate::options::UnknownRuntimes;
use crate::run::{AccessDenials, Live, Slots, World, close_orphan, heed_requests};
use crate::skill::SkillFolder;

/// How often the executor is probed.
const PROBE_INTERVAL: Duration = Duration::from_secs(60);

/// Everything that keeps a service from starting, together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartError {
    faults: Vec<String>,
}

impl StartError {
    /// One sentence a fault.
    #[must_use]
    pub fn faults(&self) -> &[String] {
        &self.faults
    }
}

impl fmt::Display for StartError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.faults.len();
        write!(formatter, "the service cannot start, for {count} reason{}:", if count == 1 { "" } else { "s" })?;
        self.faults.iter().try_for_each(|fault| write!(formatter, "\n  - {fault}"))
    }
}

impl std::error::Error for StartError {}

impl Builder {
    /// Checks everything, probes the executor, closes what a dead process left open, and starts.
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
    /// # let store = belljar_store::Store::open(belljar_store::StoreOptions::new(state.path())).await?;
    /// let belljar = Belljar::builder()
    ///     .enable()
    ///     .acknowledge_platform_isolation()
    ///     .allow_stored_scripts()
    ///     .interpreter("sh", "sh")
    ///     .ports(store.ports())
    ///     .executor(Runner)
    ///     .require_custom_executor()
    ///     .build()
    ///     .await?;
    /// assert!(belljar.is_ready());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// All faults together.
    pub async fn build(self) -> Result<Belljar, StartError> {
        let mut faults = if self.draft.enabled { self.faults.clone() } else { Vec::new() };
        let executor = self.resolve_executor(&mut faults);
        let registered = register(self.registered, &mut faults);
        let ports = self.ports;
        if ports.is_none() {
            faults.push("no store: give the builder its ports".to_owned());
        }
        let health = Health::new(self.draft.require.clone());
        let report = match &executor {
            Some(executor) if self.draft.enabled => health.probe(executor).await.ok(),
            _ => None,
        };
        if let Some((report, executor)) = report.as_deref().zip(executor.as_deref())
            && self.draft.unknown_runtimes == UnknownRuntimes::Refuse
        {
            refuse_unknown_runtimes(&self.draft.interpreters, report, executor.name(), &mut faults);
        }
        let leave_out = self.draft.unknown_runtimes == UnknownRuntimes::LeaveOut;
        let options = self.draft.check().map_err(|more| faults.extend(more)).ok();
        let (Some(mut options), Some(ports), Some(executor)) = (options, ports, executor) else {
            return Err(StartError { faults });
        };
        if let Some(report) = report.filter(|_| leave_out) {
            options.retain_interpreters(|interpreter| knows(&report, interpreter));
        }
        if !faults.is_empty() {
            return Err(StartError { faults });
        }
        let slots = Slots::new(options.max_concurrent_per_tenant(), options.max_concurrent_total());
        let (meter, access_denials, live) = (Arc::default(), AccessDenials::default(), Live::default());
        let world =
            Arc::new(World { ports, options, executor, registered, live, slots, health, meter, access_denials });
        close_lost_runs(&world).await?;
        tokio::spawn(keep_probing(Arc::downgrade(&world)));
        tokio::spawn(heed_requests(Arc::downgrade(&world)));
        Ok(Belljar { world })
    }

    fn resolve_executor(&self, faults: &mut Vec<String>) -> Option<Arc<dyn Executor>> {
        if let [first, second, ..] = &self.executors[..] {
            faults.push(format!("two executors were given, {} and {}: give one", first.name(), second.name()));
        }
        if let Some(custom) = self.executors.first() {
            return Some(Arc::clone(custom));
        }
        match &self.default_executor {
            Some(default) if self.require_custom => {
                faults.push(format!(
                    "require_custom_executor: the seam `Executor` resolves to the default `{}`; give the builder yours with \
                     `.executor(…)`, or drop the requirement",
                    default.name()
                ));
                Some(Arc::clone(default))
            }
            Some(default) => Some(Arc::clone(default)),
            None if self.draft.enabled => {
                faults.push("no executor: give the builder one with `.executor(…)`".to_owned());
                None
            }
            None => Some(Arc::new(NoExecutor)),
        }
    }
}

fn register(skills: Vec<SkillFolder>, faults: &mut Vec<String>) -> BTreeMap<SkillName, Arc<SkillFolder>> {
    let mut registered = BTreeMap::new();
    for skill in skills {
        let name = skill.manifest.name.clone();
        if registered.insert(name.clone(), Arc::new(skill)).is_some() {
            faults.push(format!("two registered skills have the name {name}: rename one"));
        }
    }
    registered
}

fn knows(report: &Report, interpreter: &Interpreter) -> bool {
    match (interpreter, &report.runtimes) {
        (Interpreter::Runtime(name), Some(known)) => known.contains_key(name),
        _ => true,
    }
}

fn refuse_unknown_runtimes(
    interpreters: &BTreeMap<String, String>,
    report: &Report,
    executor: &str,
    faults: &mut Vec<String>,
) {
    let Some(known) = &report.runtimes else { return };
    let known: Vec<_> = known.keys().map(belljar_executor::RuntimeName::as_str).collect();
    for (language, value) in interpreters {
        // What cannot be parsed is told by the check of the options.
        if Interpreter::parse(value).is_ok_and(|interpreter| !knows(report, &interpreter)) {
            faults.push(format!(
                "interpreters.{language} = \"{value}\": the executor {executor} knows no such runtime (it knows {})",
                known.join(", ")
            ));
        }
    }
}

/// A run whose process died is closed as lost, and only such a run.
async fn close_lost_runs(world: &World) -> Result<(), StartError> {
    let fault = |error: crate::ports::StoreError| {
        let source = std::error::Error::source(&error).map_or_else(String::new, |source| format!(": {source}"));
        StartError { faults: vec![format!("runs that a dead process left open cannot be closed: {error}{source}")] }
    };
    for record in world.ports.executions.orphans().await.map_err(fault)? {
        let id = record.execution_id.clone();
        if close_orphan(world, record).await.map_err(fault)? {
            tracing::warn!(execution_id = %id, "closed a run that a dead process left open");
        }
    }
    Ok(())
}

async fn keep_probing(world: Weak<World>) {
    loop {
        if let Some(world) = world.upgrade() {
            let health = Arc::clone(&world.health.changed);
            drop(world);
            tokio::select! {
                () = tokio::time::sleep(PROBE_INTERVAL) => {}
                () = health.notified() => {}
            }
        }
        let Some(world) = world.upgrade() else { return };
        if let Err(unavailable) = world.health.probe(&world.executor).await {
            tracing::error!(%unavailable, remedy = unavailable.remedy, "the executor is not ready");
            drop(world);
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    }
}

/// Stands in while script execution is off and nobody gave an executor. The first gate is closed, so
/// nothing ever reaches it; if something did, it would be refused.
#[derive(Debug)]
struct NoExecutor;

#[async_trait::async_trait]
impl Executor for NoExecutor {
    fn name(&self) -> &'static str {
        "none"
    }

    async fn execute(
        &self,
        _request: belljar_executor::ExecutionRequest,
        _cancel: belljar_executor::Cancel,
    ) -> Result<belljar_executor::Outcome, belljar_executor::ExecutorError> {
        Err(belljar_executor::ExecutorError::unavailable("no executor is configured"))
    }
}
