//! A change that waits for the writer, and its answer.

use async_trait::async_trait;
use belljar_core::ports::{StoreError, Stored};
use tokio::sync::oneshot;

use super::transaction::Transaction;

/// A change of one port: what it does inside the transaction, and what it answers once that is durable.
#[async_trait]
pub(crate) trait Change: Send + 'static {
    /// What the port answers.
    type Answer: Send + 'static;
    /// Makes the change. Stops at the first error: the transaction may be gone with it.
    async fn apply(self, transaction: &mut Transaction<'_>) -> Stored<Self::Answer>;
}

/// A change of any kind.
#[async_trait]
pub(super) trait Job: Send {
    /// Makes the change and keeps its result; `false` when it failed.
    async fn apply(&mut self, transaction: &mut Transaction<'_>) -> bool;
    /// Answers with the kept result: the batch is durable.
    fn answer(self: Box<Self>);
    /// Answers that nothing was done.
    fn refuse(self: Box<Self>, error: StoreError);
}

pub(super) struct Waiting<C: Change> {
    pub(super) change: Option<C>,
    pub(super) result: Option<Stored<C::Answer>>,
    pub(super) reply: oneshot::Sender<Stored<C::Answer>>,
}

#[async_trait]
impl<C: Change> Job for Waiting<C> {
    async fn apply(&mut self, transaction: &mut Transaction<'_>) -> bool {
        let Some(change) = self.change.take() else { return false };
        let result = change.apply(transaction).await;
        let went_well = result.is_ok();
        self.result = Some(result);
        went_well
    }

    fn answer(self: Box<Self>) {
        let result = self.result.unwrap_or_else(|| Err(StoreError::unavailable("the change was not made")));
        // Who asked may be gone; the change stands.
        let _ = self.reply.send(result);
    }

    fn refuse(self: Box<Self>, error: StoreError) {
        let _ = self.reply.send(Err(error));
    }
}
