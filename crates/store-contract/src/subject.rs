//! What is tested.

use async_trait::async_trait;
use belljar_core::ports::Ports;

/// A database of its own, empty at first, and the way to open it.
#[async_trait]
pub trait Subject: Send + Sync {
    /// A fresh handle on the database, as another process would have it: nothing is shared with the handles
    /// before but what is stored. Each is another owner of runs. Panics when it cannot be had.
    async fn open(&self) -> Ports;

    /// Ends a handle as the death of its process would. Once this answers, the handle's open runs are
    /// orphans to the others. Dropping is enough for a store that notices at once.
    async fn end(&self, handle: Ports) {
        drop(handle);
    }
}
