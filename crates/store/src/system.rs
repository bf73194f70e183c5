//! The one place where the clock and randomness of this machine come in.

use belljar_core::ports::{Clock, Ids};
use belljar_core::time::Timestamp;

/// The system's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the clock that everything else is given")]
    fn now(&self) -> Timestamp {
        Timestamp::from_microseconds(jiff::Timestamp::now().as_microsecond())
    }
}

/// UUIDs of version 7.
#[derive(Clone, Copy, Debug, Default)]
pub struct UuidIds;

impl Ids for UuidIds {
    #[expect(clippy::disallowed_methods, reason = "this is the source of ids that everything else is given")]
    fn new_id(&self) -> String {
        uuid::Uuid::now_v7().to_string()
    }
}
