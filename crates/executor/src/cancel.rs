//! The cancel token: fired by the host, watched by the executor.

use std::future::Future;

use tokio_util::sync::CancellationToken;

/// Tells an executor that nobody waits for the run any more. Cheap to clone; all clones fire together.
#[derive(Clone, Debug, Default)]
pub struct Cancel(CancellationToken);

impl Cancel {
    /// A token that has not fired.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A token that fires with this one, and can fire alone.
    #[must_use]
    pub fn child(&self) -> Self {
        Self(self.0.child_token())
    }

    /// Fires. Firing twice is harmless.
    pub fn fire(&self) {
        self.0.cancel();
    }

    /// Whether it has fired.
    #[must_use]
    pub fn has_fired(&self) -> bool {
        self.0.is_cancelled()
    }

    /// Resolves when it fires, at once if it has.
    pub fn fired(&self) -> impl Future<Output = ()> + '_ {
        self.0.cancelled()
    }
}
