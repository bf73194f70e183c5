//! Where the store is and how long it waits.

use std::path::PathBuf;
use std::time::Duration;

/// Where the store is and how long it waits.
#[derive(Clone, Debug)]
pub struct StoreOptions {
    /// The state folder. It is made, for its owner alone, when it is not there.
    pub folder: PathBuf,
    /// How long a change waits for another process's change before it is refused.
    pub busy_timeout: Duration,
}

impl StoreOptions {
    /// The store in this folder, with a busy time-out of five seconds.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), busy_timeout: Duration::from_secs(5) }
    }
}
