//! An audit entry that cannot be written: nothing starts.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use belljar_core::audit::{AuditDraft, AuditEntry, Head, Receipt};
use belljar_core::code::Code;
use belljar_core::execution::ExecutionRecord;
use belljar_core::grant::{Grant, PendingGrant};
use belljar_core::ids::{GrantId, OwnerId, SkillId};
use belljar_core::once::{Earlier, IdempotencyKey, Opened};
use belljar_core::ports::{Audit, Clock, Executions, Grants, Ports, StoreError, Stored};
use belljar_core::time::Timestamp;
use belljar_executor::{ExecutionId, LogicalPath, SkillName, TenantId};

use crate::support::{Scripted, TestWorld, call, caller, options};

fn broken<T>() -> Stored<T> {
    Err(StoreError::unavailable("no space left on device"))
}

/// A trail that can be read and takes no entry.
#[derive(Debug)]
struct FailingAudit(Arc<dyn Audit>);

#[async_trait]
impl Audit for FailingAudit {
    async fn append(&self, _draft: AuditDraft) -> Stored<Receipt> {
        broken()
    }
    async fn page(&self, tenant: &TenantId, after: u64, limit: u32) -> Stored<Vec<AuditEntry>> {
        self.0.page(tenant, after, limit).await
    }
    async fn head(&self, tenant: &TenantId) -> Stored<Head> {
        self.0.head(tenant).await
    }
    async fn copied_heads(&self) -> Stored<BTreeMap<TenantId, Head>> {
        self.0.copied_heads().await
    }
    async fn tenants(&self) -> Stored<Vec<TenantId>> {
        self.0.tenants().await
    }
}

/// Grants that can be read, and whose refusals cannot be written.
#[derive(Debug)]
struct FailingGrants(Arc<dyn Grants>);

#[async_trait]
impl Grants for FailingGrants {
    async fn active(
        &self,
        tenant: &TenantId,
        skill: &SkillId,
        path: &LogicalPath,
        now: Timestamp,
    ) -> Stored<Vec<Grant>> {
        self.0.active(tenant, skill, path, now).await
    }
    async fn get(&self, tenant: &TenantId, id: &GrantId) -> Stored<Option<Grant>> {
        self.0.get(tenant, id).await
    }
    async fn list(&self, tenant: &TenantId) -> Stored<Vec<Grant>> {
        self.0.list(tenant).await
    }
    async fn refuse(&self, _pending: PendingGrant, _audit: AuditDraft) -> Stored<()> {
        broken()
    }
    async fn pending(&self, tenant: &TenantId, now: Timestamp) -> Stored<Vec<PendingGrant>> {
        self.0.pending(tenant, now).await
    }
    async fn add(&self, grant: Grant, replace: bool, audit: AuditDraft) -> Stored<Grant> {
        self.0.add(grant, replace, audit).await
    }
    async fn revoke(
        &self,
        tenant: &TenantId,
        ids: &[GrantId],
        now: Timestamp,
        audit: AuditDraft,
    ) -> Stored<Vec<Grant>> {
        self.0.revoke(tenant, ids, now, audit).await
    }
}

/// Executions whose opening, or whose closing, cannot be written; or that do something when one is opened.
struct FailingExecutions {
    inner: Arc<dyn Executions>,
    opens: bool,
    closes: bool,
    when_opened: Box<dyn Fn() + Send + Sync>,
}

impl fmt::Debug for FailingExecutions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("FailingExecutions").finish_non_exhaustive()
    }
}

#[async_trait]
impl Executions for FailingExecutions {
    async fn open(&self, record: ExecutionRecord, audit: AuditDraft) -> Stored<Opened> {
        (self.when_opened)();
        if self.opens { self.inner.open(record, audit).await } else { broken() }
    }
    async fn earlier(
        &self,
        tenant: &TenantId,
        caller: &str,
        key: &IdempotencyKey,
        since: Timestamp,
    ) -> Stored<Option<Earlier>> {
        self.inner.earlier(tenant, caller, key, since).await
    }
    async fn close(&self, record: ExecutionRecord, audit: AuditDraft) -> Stored<bool> {
        if self.closes { self.inner.close(record, audit).await } else { broken() }
    }
    async fn get(&self, tenant: &TenantId, id: &ExecutionId) -> Stored<Option<ExecutionRecord>> {
        self.inner.get(tenant, id).await
    }
    async fn list(&self, tenant: &TenantId, limit: u32) -> Stored<Vec<ExecutionRecord>> {
        self.inner.list(tenant, limit).await
    }
    async fn recent(
        &self,
        tenant: &TenantId,
        caller: &str,
        slug: &SkillName,
        skill: Option<&SkillId>,
        limit: u32,
    ) -> Stored<Vec<ExecutionRecord>> {
        self.inner.recent(tenant, caller, slug, skill, limit).await
    }
    async fn running(&self, tenant: &TenantId) -> Stored<Vec<ExecutionRecord>> {
        self.inner.running(tenant).await
    }
    async fn request_cancel(&self, tenant: &TenantId, id: &ExecutionId, audit: AuditDraft) -> Stored<bool> {
        self.inner.request_cancel(tenant, id, audit).await
    }
    async fn cancel_requests(&self) -> Stored<Vec<ExecutionId>> {
        self.inner.cancel_requests().await
    }
    async fn orphans(&self) -> Stored<Vec<ExecutionRecord>> {
        self.inner.orphans().await
    }
    fn owner(&self) -> &OwnerId {
        self.inner.owner()
    }
}

pub(crate) async fn with_failing_audit(world: TestWorld) -> TestWorld {
    let TestWorld { executor, clock, ports, folder, .. } = world;
    let audit = Arc::new(FailingAudit(ports.audit.clone()));
    let grants = Arc::new(FailingGrants(ports.grants.clone()));
    TestWorld::over(executor, options(), Ports { audit, grants, ..ports }, clock, folder).await
}

async fn with_failing_executions(world: TestWorld, opens: bool) -> TestWorld {
    let TestWorld { executor, clock, ports, folder, .. } = world;
    let inner = ports.executions.clone();
    let executions = Arc::new(FailingExecutions { inner, opens, closes: false, when_opened: Box::new(|| {}) });
    TestWorld::over(executor, options(), Ports { executions, ..ports }, clock, folder).await
}

/// Ports with which something happens after the gates and before the run's entry is durable.
pub(crate) fn with_harm_when_opened(ports: Ports, harm: impl Fn() + Send + Sync + 'static) -> Ports {
    let inner = ports.executions.clone();
    let executions = FailingExecutions { inner, opens: true, closes: true, when_opened: Box::new(harm) };
    Ports { executions: Arc::new(executions), ..ports }
}

#[tokio::test]
async fn a_run_that_cannot_be_recorded_is_refused() {
    let world = TestWorld::new(Scripted::exits(0)).await;
    world.ready().await;
    let world = with_failing_executions(world, false).await;
    let before = world.entries().await.len();
    let refusal = world.belljar.execute(&caller(), call()).await.unwrap_err();
    assert_eq!(refusal.code(), Code::AuditUnavailable);
    assert!(!refusal.message().contains("no space"), "the cause is for the log: {refusal}");
    assert_eq!(world.executor.calls(), 0);
    assert_eq!(world.entries().await.len(), before);
    assert_eq!(world.belljar.meter().audit_refused, 1);
    assert_eq!(world.belljar.slots_held(), 0);
    assert!(!world.belljar.is_ready());
}

#[tokio::test]
async fn an_outcome_that_cannot_be_recorded_marks_the_answer_and_readiness() {
    let world = TestWorld::new(Scripted::exits(0)).await;
    world.ready().await;
    let world = with_failing_executions(world, true).await;
    let answer = world.belljar.execute(&caller(), call()).await.unwrap();
    assert!(!answer.recorded);
    assert_eq!(belljar_core::envelope::execution(&answer)["data"]["recorded"], false);
    assert!(!world.belljar.is_ready());
    let verification = world.belljar.verify_audit(&caller(), None).await.unwrap();
    assert_eq!((verification.runs, verification.outcomes), (1, 0));
}

/// What the world does to the files of an open store; the executor is never called.
async fn assert_refused_after(harm: impl FnOnce(&std::path::Path)) {
    let world = TestWorld::new(Scripted::exits(0)).await;
    world.ready().await;
    harm(world.folder.path());
    let refusal = world.belljar.execute(&caller(), call()).await.unwrap_err();
    assert!(matches!(refusal.code(), Code::AuditUnavailable | Code::StoreUnavailable), "{refusal}");
    assert!(refusal.code().is_retryable());
    assert_eq!(world.executor.calls(), 0);
    assert_eq!(world.belljar.slots_held(), 0);
}

#[tokio::test]
async fn a_database_that_was_deleted_while_it_was_open() {
    assert_refused_after(|folder| std::fs::remove_file(folder.join("belljar.db")).unwrap()).await;
}

#[tokio::test]
async fn a_database_that_was_replaced_while_it_was_open() {
    assert_refused_after(|folder| {
        let database = folder.join("belljar.db");
        std::fs::copy(&database, folder.join("copy")).unwrap();
        std::fs::rename(folder.join("copy"), &database).unwrap();
    })
    .await;
}

#[tokio::test]
async fn a_log_that_was_deleted_while_it_was_open() {
    assert_refused_after(|folder| std::fs::remove_file(folder.join("belljar.db-wal")).unwrap()).await;
}

#[tokio::test]
async fn a_database_that_another_process_holds_locked() {
    let mut locker = None;
    assert_refused_after(|folder| locker = Some(lock_database(folder))).await;
    drop(locker);
}

/// A process that holds a write transaction until its standard input is closed.
struct Locker(std::process::Child);

impl Drop for Locker {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        drop(self.0.wait());
    }
}

#[expect(clippy::disallowed_methods, reason = "a test starts the neighbour that gets in the way")]
fn lock_database(folder: &std::path::Path) -> Locker {
    let script = "import sqlite3, sys\n\
                  c = sqlite3.connect(sys.argv[1], isolation_level=None)\n\
                  c.execute('begin immediate')\n\
                  print('locked', flush=True)\n\
                  sys.stdin.read()";
    let mut locker = std::process::Command::new("python3")
        .args(["-c", script])
        .arg(folder.join("belljar.db"))
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let printed = locker.stdout.take().unwrap();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(printed), &mut line).unwrap();
    Locker(locker)
}

/// A clock that panics at the call that the test states.
#[derive(Debug)]
struct PanickingClock {
    inner: Arc<dyn Clock>,
    calls: AtomicUsize,
    panics_at: AtomicUsize,
}

impl Clock for PanickingClock {
    fn now(&self) -> Timestamp {
        let call = self.calls.fetch_add(1, Ordering::SeqCst) + 1;
        assert_ne!(call, self.panics_at.load(Ordering::SeqCst), "the stated call");
        self.inner.now()
    }
}

/// Whichever step panics: nothing ran without a record, and what was recorded has an outcome, unless the
/// record's own last step is the one that panics.
#[tokio::test]
async fn a_panic_between_the_record_and_its_end_is_an_outcome() {
    let world = TestWorld::new(Scripted::exits(0)).await;
    world.ready().await;
    let TestWorld { executor, clock, ports, folder, .. } = world;
    let panicking = PanickingClock {
        inner: Arc::clone(&ports.clock),
        calls: AtomicUsize::new(0),
        panics_at: AtomicUsize::new(usize::MAX),
    };
    let panicking = Arc::new(panicking);
    let ports = Ports { clock: Arc::clone(&panicking) as Arc<dyn Clock>, ..ports };
    let world = TestWorld::over(executor, options(), ports, clock, folder).await;
    world.belljar.execute(&caller(), call()).await.unwrap();
    let calls = panicking.calls.swap(0, Ordering::SeqCst);
    let mut faults = 0;
    for at in 1..calls - 1 {
        panicking.panics_at.store(at, Ordering::SeqCst);
        let answer = world.belljar.execute(&caller(), call()).await;
        panicking.calls.store(0, Ordering::SeqCst);
        panicking.panics_at.store(usize::MAX, Ordering::SeqCst);
        faults += usize::from(answer.is_ok_and(|answer| answer.record.error_kind.as_deref() == Some("EXECUTOR_FAULT")));
        world.assert_trail_is_whole().await;
        assert_eq!((world.belljar.slots_held(), world.belljar.meter().running), (0, 0), "call {at} of {calls}");
    }
    assert!(faults > 0, "no panic fell between the record and its end");
}
