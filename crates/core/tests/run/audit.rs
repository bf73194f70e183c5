//! Verifying a trail to which others write at the same time.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use belljar_core::audit::{AuditDraft, AuditEntry, Head, Receipt};
use belljar_core::ports::{Audit, Ports, Stored};
use belljar_executor::TenantId;
use tokio::sync::Notify;

use crate::support::{Scripted, TestWorld, call, caller, options, outcome};

/// A trail that waits after each page until the run that was open on it has ended.
#[derive(Debug)]
struct EndsAfterReading {
    inner: Arc<dyn Audit>,
    read: Arc<Notify>,
    ended: Arc<Notify>,
}

#[async_trait]
impl Audit for EndsAfterReading {
    async fn append(&self, draft: AuditDraft) -> Stored<Receipt> {
        self.inner.append(draft).await
    }
    async fn page(&self, tenant: &TenantId, after: u64, limit: u32) -> Stored<Vec<AuditEntry>> {
        let page = self.inner.page(tenant, after, limit).await?;
        if after == 0 {
            self.read.notify_one();
            self.ended.notified().await;
        }
        Ok(page)
    }
    async fn head(&self, tenant: &TenantId) -> Stored<Head> {
        self.inner.head(tenant).await
    }
    async fn copied_heads(&self) -> Stored<BTreeMap<TenantId, Head>> {
        self.inner.copied_heads().await
    }
    async fn tenants(&self) -> Stored<Vec<TenantId>> {
        self.inner.tenants().await
    }
}

#[tokio::test]
async fn a_run_that_ends_while_the_trail_is_read_is_no_fault() {
    let (started, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (inside, until) = (Arc::clone(&started), Arc::clone(&go_on));
    let executor = Scripted::new(move |_, _| {
        let (inside, until) = (Arc::clone(&inside), Arc::clone(&until));
        async move {
            inside.notify_one();
            until.notified().await;
            Ok(outcome(0))
        }
    });
    let world = TestWorld::new(executor).await;
    world.ready().await;
    let (read, ended) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let TestWorld { executor, clock, ports, folder, .. } = world;
    let audit =
        EndsAfterReading { inner: Arc::clone(&ports.audit), read: Arc::clone(&read), ended: Arc::clone(&ended) };
    let ports = Ports { audit: Arc::new(audit), ..ports };
    let world = TestWorld::over(executor, options(), ports, clock, folder).await;

    let belljar = world.belljar.clone();
    let run = tokio::spawn(async move { belljar.execute(&caller(), call()).await.unwrap() });
    started.notified().await;
    let belljar = world.belljar.clone();
    let verifying = tokio::spawn(async move { belljar.verify_audit(&caller(), None).await.unwrap() });
    read.notified().await;
    go_on.notify_one();
    run.await.unwrap();
    ended.notify_one();
    let verification = verifying.await.unwrap();
    assert_eq!(verification.fault, None);
    assert_eq!((verification.runs, verification.outcomes, verification.running), (1, 1, 0));
}
