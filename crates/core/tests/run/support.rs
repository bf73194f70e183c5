//! A world for tests: a store in a temporary folder, a clock and ids that the test states, and an
//! executor that does what it is told and counts.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};

use async_trait::async_trait;
use belljar_core::Belljar;
use belljar_core::audit::{Action, AuditEntry};
use belljar_core::caller::{Caller, Scope};
use belljar_core::ids::{OwnerId, RevisionId};
use belljar_core::options::OptionsDraft;
use belljar_core::ports::{Clock, Ids, Ports};
use belljar_core::run::{Call, SkillSelector};
use belljar_core::service::{GrantRequest, SaveRequest};
use belljar_core::skill::{Saved, Strictness, assemble};
use belljar_core::time::Timestamp;
use belljar_executor::{
    Cancel, Captured, ExecutionRequest, Executor, ExecutorError, LogicalPath, Outcome, Report, SkillName, TenantId,
    Unavailable,
};
use belljar_store::{Store, StoreOptions};
use tempfile::TempDir;

type Answering = Pin<Box<dyn Future<Output = Result<Outcome, ExecutorError>> + Send>>;
type Behaviour = Arc<dyn Fn(ExecutionRequest, Cancel) -> Answering + Send + Sync>;
type Probing = Arc<dyn Fn() -> Result<Report, Unavailable> + Send + Sync>;

/// Does what it is told and counts.
#[derive(Clone)]
pub(crate) struct Scripted {
    calls: Arc<AtomicUsize>,
    behaviour: Behaviour,
    probing: Probing,
}

impl fmt::Debug for Scripted {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Scripted").field("calls", &self.calls()).finish_non_exhaustive()
    }
}

impl Scripted {
    pub(crate) fn new<F>(behaviour: impl Fn(ExecutionRequest, Cancel) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<Outcome, ExecutorError>> + Send + 'static,
    {
        Self {
            calls: Arc::default(),
            behaviour: Arc::new(move |request, cancel| Box::pin(behaviour(request, cancel))),
            probing: Arc::new(|| Ok(Report::unknown())),
        }
    }

    pub(crate) fn exits(code: i32) -> Self {
        Self::new(move |_, _| async move { Ok(outcome(code)) })
    }

    pub(crate) fn probing(mut self, probing: impl Fn() -> Result<Report, Unavailable> + Send + Sync + 'static) -> Self {
        self.probing = Arc::new(probing);
        self
    }

    pub(crate) fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }
}

pub(crate) fn outcome(code: i32) -> Outcome {
    Outcome::exited(code, Captured::default(), Captured::default())
}

#[async_trait]
impl Executor for Scripted {
    fn name(&self) -> &'static str {
        "scripted"
    }

    async fn probe(&self) -> Result<Report, Unavailable> {
        (self.probing)()
    }

    async fn execute(&self, request: ExecutionRequest, cancel: Cancel) -> Result<Outcome, ExecutorError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        (self.behaviour)(request, cancel).await
    }
}

/// A clock that the test moves.
#[derive(Clone, Debug)]
pub(crate) struct StatedClock(Arc<AtomicI64>);

impl StatedClock {
    pub(crate) const START: i64 = 1_796_112_000_000_000;

    pub(crate) fn advance_seconds(&self, seconds: i64) {
        self.0.fetch_add(seconds * 1_000_000, Ordering::SeqCst);
    }
}

impl Clock for StatedClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_microseconds(self.0.load(Ordering::SeqCst))
    }
}

#[derive(Debug, Default)]
struct CountedIds(AtomicU64);

impl Ids for CountedIds {
    fn new_id(&self) -> String {
        format!("id-{:06}", self.0.fetch_add(1, Ordering::SeqCst))
    }
}

/// A running service and what the test needs to look at.
pub(crate) struct TestWorld {
    pub(crate) belljar: Belljar,
    pub(crate) executor: Scripted,
    pub(crate) clock: StatedClock,
    pub(crate) ports: Ports,
    pub(crate) folder: TempDir,
}

pub(crate) fn options() -> OptionsDraft {
    OptionsDraft {
        enabled: true,
        platform_isolation_acknowledged: true,
        allow_stored_scripts: true,
        interpreters: BTreeMap::from([("sh".into(), "sh".into()), ("py".into(), "python".into())]),
        ..OptionsDraft::default()
    }
}

pub(crate) async fn ports(folder: &std::path::Path) -> (Ports, StatedClock) {
    let store = Store::open_as(StoreOptions::new(folder), OwnerId::new("test-owner")).await.unwrap();
    let clock = StatedClock(Arc::new(AtomicI64::new(StatedClock::START)));
    let ports = Ports {
        skills: Arc::new(store.clone()),
        grants: Arc::new(store.clone()),
        audit: Arc::new(store.clone()),
        executions: Arc::new(store.clone()),
        pauses: Arc::new(store),
        clock: Arc::new(clock.clone()),
        ids: Arc::new(CountedIds::default()),
    };
    (ports, clock)
}

impl TestWorld {
    pub(crate) async fn new(executor: Scripted) -> Self {
        Self::with(executor, options()).await
    }

    pub(crate) async fn with(executor: Scripted, options: OptionsDraft) -> Self {
        let folder = TempDir::new().unwrap();
        let (ports, clock) = ports(folder.path()).await;
        Self::over(executor, options, ports, clock, folder).await
    }

    /// Another service over the same store: other options, the same skills and grants.
    pub(crate) async fn reopened(self, options: OptionsDraft) -> Self {
        let Self { executor, clock, ports, folder, .. } = self;
        Self::over(executor, options, ports, clock, folder).await
    }

    pub(crate) async fn over(
        executor: Scripted,
        options: OptionsDraft,
        ports: Ports,
        clock: StatedClock,
        folder: TempDir,
    ) -> Self {
        let builder = Belljar::builder().options(options).ports(ports.clone()).executor(executor.clone());
        let belljar = builder.build().await.unwrap();
        Self { belljar, executor, clock, ports, folder }
    }

    /// Saves a skill `demo` with these files beside its `SKILL.md`.
    pub(crate) async fn save(&self, files: &[(&str, &str)]) -> Saved {
        let all = [("SKILL.md", "---\nname: demo\ndescription: A skill for tests.\n---\nBody.\n")];
        let files =
            all.iter().chain(files).map(|(path, text)| (LogicalPath::parse(path).unwrap(), Arc::from(text.as_bytes())));
        let read = assemble(files.collect(), Strictness::Lenient).unwrap();
        self.belljar.save_skill(&caller(), SaveRequest::new(read.manifest, read.files)).await.unwrap()
    }

    /// Grants a script, or `*`, of a revision.
    pub(crate) async fn grant(&self, saved: &Saved, target: &str) -> belljar_core::grant::Grant {
        let skill = SkillSelector::Id(saved.skill.id.clone());
        let revision: Option<RevisionId> = Some(saved.revision.id.clone());
        let pins = self.belljar.pins(&caller(), &skill, revision.as_ref()).await.unwrap();
        let pin = match target {
            "*" => pins.all,
            path => pins.scripts[&LogicalPath::parse(path).unwrap()].pin,
        };
        let request = GrantRequest {
            skill,
            revision,
            target: target.into(),
            expected_pin: pin,
            expires_at: None,
            replace: false,
        };
        self.belljar.grant(&caller(), request).await.unwrap()
    }

    /// Saves the one-script skill and grants its script.
    pub(crate) async fn ready(&self) -> Saved {
        let saved = self.save(&[("scripts/a.sh", "echo hello")]).await;
        self.grant(&saved, "scripts/a.sh").await;
        saved
    }

    pub(crate) async fn entries(&self) -> Vec<AuditEntry> {
        self.belljar.audit_page(&caller(), 0).await.unwrap().entries
    }

    pub(crate) async fn entries_of(&self, action: Action) -> Vec<AuditEntry> {
        self.entries().await.into_iter().filter(|entry| entry.action == action).collect()
    }

    /// The trail is valid and every run has its outcome.
    pub(crate) async fn assert_trail_is_whole(&self) {
        let verification = self.belljar.verify_audit(&caller(), None).await.unwrap();
        assert_eq!(verification.fault, None);
        assert_eq!((verification.runs, verification.running), (verification.outcomes, 0));
    }
}

pub(crate) fn tenant() -> TenantId {
    TenantId::parse("local").unwrap()
}

/// A caller with every scope.
pub(crate) fn caller() -> Caller {
    Caller::authenticated(tenant(), "ana", [], Scope::ALL)
}

/// A call of `scripts/a.sh` of the skill `demo`.
pub(crate) fn call() -> Call {
    Call::new(SkillSelector::Slug(SkillName::parse("demo").unwrap()), "scripts/a.sh")
}
