//! The executor's last probe must be good: what cannot start gets no run entry.

use std::sync::Arc;

use belljar_executor::Report;

use super::{Cleared, Denial, Stop, World};
use crate::code::Reason;

/// A cleared call and the report of the executor that would run it.
#[derive(Debug)]
pub struct Ready {
    pub(super) cleared: Cleared,
    pub(super) isolation: Arc<Report>,
}

/// Checks that the executor is ready.
///
/// # Errors
/// [`Stop::Denied`] with `sandbox_unavailable`.
pub fn ready(world: &World, cleared: Cleared) -> Result<Ready, Stop> {
    match world.health.report() {
        Ok(isolation) => Ok(Ready { cleared, isolation }),
        Err(unavailable) => Err(Stop::Denied(Denial {
            reason: Reason::SandboxUnavailable,
            resolved: cleared.resolved,
            unavailable: Some(Box::new(unavailable)),
        })),
    }
}
