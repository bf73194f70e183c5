//! Executors whose probe panics or never answers: not ready, with cause and remedy, and probed again.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use belljar_core::Belljar;
use belljar_executor::{Cancel, ExecutionRequest, Executor, ExecutorError, Outcome, Report, Unavailable};

use crate::support::{options, outcome, ports};

/// Answers its first probe, spoils its second, and answers every one after that.
#[derive(Clone, Debug)]
struct Spoiled {
    probes: Arc<AtomicUsize>,
    panics: bool,
}

#[async_trait]
impl Executor for Spoiled {
    fn name(&self) -> &'static str {
        "spoiled"
    }

    async fn probe(&self) -> Result<Report, Unavailable> {
        if self.probes.fetch_add(1, Ordering::SeqCst) == 1 {
            assert!(!self.panics, "hunter2");
            pending::<()>().await;
        }
        Ok(Report::unknown())
    }

    async fn execute(&self, _request: ExecutionRequest, _cancel: Cancel) -> Result<Outcome, ExecutorError> {
        Ok(outcome(0))
    }
}

async fn service(panics: bool) -> (Belljar, Spoiled, tempfile::TempDir) {
    let folder = tempfile::TempDir::new().unwrap();
    let (ports, _) = ports(folder.path()).await;
    let executor = Spoiled { probes: Arc::default(), panics };
    let builder = Belljar::builder().options(options()).ports(ports).executor(executor.clone());
    (builder.build().await.unwrap(), executor, folder)
}

#[tokio::test]
async fn a_probe_that_panics_or_never_answers_is_no_sandbox() {
    for panics in [true, false] {
        let (belljar, _, _folder) = service(panics).await;
        assert!(belljar.is_ready());
        // Nothing but the host's patience is waited for, so a clock that jumps to it is right.
        tokio::time::pause();
        let unavailable = belljar.probe().await.unwrap_err();
        tokio::time::resume();
        assert!(!unavailable.remedy.is_empty() && !unavailable.message.contains("hunter2"), "{unavailable:?}");
        assert!(!belljar.is_ready());
        belljar.probe().await.unwrap();
        assert!(belljar.is_ready());
    }
}

/// What probes every minute outlives a probe that fails in either way.
#[tokio::test]
async fn the_next_probe_comes_all_the_same() {
    for panics in [true, false] {
        let (belljar, executor, _folder) = service(panics).await;
        tokio::time::pause();
        let probed = async {
            while executor.probes.load(Ordering::SeqCst) < 3 {
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        };
        let probed = tokio::time::timeout(Duration::from_secs(600), probed).await;
        assert!(probed.is_ok(), "panics: {panics}");
        tokio::time::sleep(Duration::from_secs(1)).await;
        tokio::time::resume();
        assert!(belljar.is_ready());
    }
}
