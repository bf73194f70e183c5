//! The runs of this process that are under way, so that a request from elsewhere finds their token.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use belljar_executor::{Cancel, ExecutionId};
use tokio::sync::Notify;

use super::World;

/// How often the store is asked whether somebody wants a run cancelled.
const INTERVAL: Duration = Duration::from_millis(250);

/// The runs that are under way.
#[derive(Debug, Default)]
pub struct Live {
    tokens: Mutex<BTreeMap<ExecutionId, Cancel>>,
    added: Arc<Notify>,
}

/// A run that is under way, until this is dropped.
#[derive(Debug)]
pub(super) struct Entry<'w> {
    live: &'w Live,
    id: ExecutionId,
}

impl Live {
    /// Names a run and the token that cancels it.
    pub(super) fn enter(&self, id: &ExecutionId, cancel: &Cancel) -> Entry<'_> {
        self.tokens().insert(id.clone(), cancel.clone());
        self.added.notify_one();
        Entry { live: self, id: id.clone() }
    }

    fn is_empty(&self) -> bool {
        self.tokens().is_empty()
    }

    fn cancel(&self, id: &ExecutionId) {
        if let Some(cancel) = self.tokens().get(id) {
            cancel.fire();
        }
    }

    fn tokens(&self) -> std::sync::MutexGuard<'_, BTreeMap<ExecutionId, Cancel>> {
        self.tokens.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Entry<'_> {
    fn drop(&mut self) {
        self.live.tokens().remove(&self.id);
    }
}

/// Fires the tokens of runs that somebody asked to be cancelled. Asks only while there are runs.
pub(crate) async fn heed_requests(world: Weak<World>) {
    loop {
        let Some(added) = world.upgrade().map(|world| world.live.is_empty().then(|| Arc::clone(&world.live.added)))
        else {
            return;
        };
        // Nothing of the service is held while it waits: woken by the next run, or now and then to see whether
        // the service is still there.
        if let Some(added) = added
            && tokio::time::timeout(Duration::from_secs(60), added.notified()).await.is_err()
        {
            continue;
        }
        // A run that is over by then needs no look at the store.
        tokio::time::sleep(INTERVAL).await;
        let Some(world) = world.upgrade() else { return };
        if world.live.is_empty() {
            continue;
        }
        match world.ports.executions.cancel_requests().await {
            Ok(requested) => requested.iter().for_each(|id| world.live.cancel(id)),
            Err(error) => tracing::warn!(%error, "requests to cancel runs cannot be read"),
        }
    }
}
