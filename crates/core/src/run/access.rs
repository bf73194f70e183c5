//! How often a caller's refused access is audited.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use belljar_executor::TenantId;

use crate::caller::Caller;
use crate::time::Timestamp;

/// At most one `access.denied` entry per caller in this time.
const INTERVAL: Duration = Duration::from_secs(10);

/// How many callers are remembered; beyond that the oldest are forgotten.
const REMEMBERED: usize = 10_000;

/// When each caller's refused access was audited last.
#[derive(Debug, Default)]
pub struct AccessDenials(Mutex<BTreeMap<(TenantId, String), Timestamp>>);

impl AccessDenials {
    /// Whether this caller's refused access is to be audited now.
    pub(super) fn admits(&self, caller: &Caller, now: Timestamp) -> bool {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (caller.tenant().clone(), caller.subject().to_owned());
        if last.get(&key).is_some_and(|last| now.since(*last) < INTERVAL) {
            return false;
        }
        if last.len() >= REMEMBERED {
            last.retain(|_, last| now.since(*last) < INTERVAL);
        }
        last.insert(key, now);
        true
    }
}
