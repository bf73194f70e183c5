//! The façade: every surface parses into these calls, and holds no rule of its own.

mod audit;
mod builder;
mod cancel;
mod context;
mod executions;
mod grants;
mod lifecycle;
mod pauses;
mod pending;
mod plan;
mod recall;
mod review;
mod save;
mod skills;
mod start;

use std::sync::Arc;

use belljar_executor::{Cancel, Report, Unavailable};
use tracing::Instrument;

pub use audit::AuditPage;
pub use builder::Builder;
pub use context::{ContextRequest, ContextScope, Excerpt};
pub use grants::{GrantRequest, PinnedScript, Pins, Revocation};
pub use plan::Plan;
pub use recall::{Component, FoundSkills, RecalledFile, RecalledScript, RecalledSkill, SkillSource, SkillSummary};
pub use review::{Review, ReviewRequest};
pub use save::{ChangeRequest, ChangedSkill};
pub use skills::{ListedSkill, SaveRequest, SkillDetails};
pub use start::StartError;

use crate::caller::{Caller, Scope};
use crate::code::Code;
use crate::meter::Reading;
use crate::options::Options;
use crate::refusal::Refusal;
use crate::run::{Answer, Call, World, walk};

/// The service. Cheap to clone; all clones are one.
#[derive(Clone, Debug)]
pub struct Belljar {
    world: Arc<World>,
}

/// A run in its own task. Dropping it asks for cancellation; the task still reaches its record.
#[derive(Debug)]
pub struct Running {
    cancel: Cancel,
    task: tokio::task::JoinHandle<Result<Answer, Refusal>>,
}

impl Running {
    /// A token that cancels the run when it fires.
    #[must_use]
    pub fn cancel(&self) -> Cancel {
        self.cancel.clone()
    }

    /// Waits for the record.
    ///
    /// # Errors
    /// A refusal, when the executor was not called.
    pub async fn wait(mut self) -> Result<Answer, Refusal> {
        match (&mut self.task).await {
            Ok(answer) => answer,
            Err(error) => {
                tracing::error!(%error, "a run's task ended without an answer");
                Err(Refusal::new(Code::Internal, "The run ended without an answer; see the log."))
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.cancel.fire();
    }
}

impl Belljar {
    /// Starts to describe a service.
    #[must_use]
    pub fn builder() -> Builder {
        Builder::new()
    }

    /// Starts a run in a task of its own.
    #[must_use]
    pub fn start(&self, caller: Caller, call: Call) -> Running {
        let cancel = Cancel::new();
        let world = Arc::clone(&self.world);
        let token = cancel.clone();
        let span = tracing::info_span!(
            "execute_skill_script",
            skill = tracing::field::Empty,
            script = tracing::field::Empty,
            revision = tracing::field::Empty,
            executor = world.executor.name(),
            status = tracing::field::Empty,
            exit_code = tracing::field::Empty,
            duration_ms = tracing::field::Empty,
            denial_reason = tracing::field::Empty,
        );
        let task = tokio::spawn(async move { walk(&world, caller, call, &token).await }.instrument(span));
        Running { cancel, task }
    }

    /// Runs a script and waits for its record. Dropping the future asks for cancellation.
    ///
    /// # Errors
    /// A refusal, when the executor was not called.
    pub async fn execute(&self, caller: &Caller, call: Call) -> Result<Answer, Refusal> {
        self.start(caller.clone(), call).wait().await
    }

    /// Probes the executor now.
    ///
    /// # Errors
    /// Why the configured isolation cannot be had.
    pub async fn probe(&self) -> Result<Arc<Report>, Unavailable> {
        self.world.health.probe(&self.world.executor).await
    }

    /// The executor's last good report.
    ///
    /// # Errors
    /// Why there is none.
    pub fn isolation(&self) -> Result<Arc<Report>, Unavailable> {
        self.world.health.report()
    }

    /// The name of the executor that runs scripts.
    #[must_use]
    pub fn executor_name(&self) -> &str {
        self.world.executor.name()
    }

    /// Whether runs can be started, as far as is known.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.world.health.is_ready()
    }

    /// The counters now.
    #[must_use]
    pub fn meter(&self) -> Reading {
        self.world.meter.read()
    }

    /// How many slots are held.
    #[must_use]
    pub fn slots_held(&self) -> usize {
        self.world.slots.held()
    }

    /// The checked options.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.world.options
    }
}

/// Checks that a caller has a scope.
fn need(caller: &Caller, scope: Scope) -> Result<(), Refusal> {
    if caller.may(scope) {
        return Ok(());
    }
    Err(Refusal::new(Code::AccessDenied, format!("This call needs the scope {}.", scope.as_str())))
}
