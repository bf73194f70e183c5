//! The trait.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use crate::{Cancel, ExecutionRequest, ExecutorError, Outcome, Report, Unavailable};

/// Where an approved script runs. One instance serves every run at once.
///
/// See the crate's documentation for what an implementation promises.
#[async_trait]
pub trait Executor: fmt::Debug + Send + Sync + 'static {
    /// A short stable name for logs, audit and the console.
    fn name(&self) -> &str;

    /// What is really enforced and which runtime names are known, found out by trying. Asked at
    /// start-up, every minute and after a fault.
    ///
    /// # Errors
    /// [`Unavailable`] when nothing can run here, with the cause and the remedy.
    async fn probe(&self) -> Result<Report, Unavailable> {
        Ok(Report::unknown())
    }

    /// Runs once, never retries. After `cancel` fires it ends in [`ExecutorError::cancelled`], the
    /// script's whole process tree gone.
    ///
    /// # Errors
    /// [`ExecutorError`] when there is no outcome to tell.
    async fn execute(&self, request: ExecutionRequest, cancel: Cancel) -> Result<Outcome, ExecutorError>;
}

#[async_trait]
impl<E: Executor + ?Sized> Executor for Arc<E> {
    fn name(&self) -> &str {
        (**self).name()
    }

    async fn probe(&self) -> Result<Report, Unavailable> {
        (**self).probe().await
    }

    async fn execute(&self, request: ExecutionRequest, cancel: Cancel) -> Result<Outcome, ExecutorError> {
        (**self).execute(request, cancel).await
    }
}
