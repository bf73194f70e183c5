//! Points in time, as microseconds since 1970-01-01 UTC.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A point in time with microseconds, always in UTC. Shown and read as RFC 3339.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// Microseconds since 1970-01-01 UTC.
    #[must_use]
    pub const fn from_microseconds(microseconds: i64) -> Self {
        Self(microseconds)
    }

    /// Microseconds since 1970-01-01 UTC.
    #[must_use]
    pub const fn microseconds(self) -> i64 {
        self.0
    }

    /// Reads an RFC 3339 time such as `2026-12-01T08:30:00Z`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        text.parse::<jiff::Timestamp>().ok().map(|time| Self(time.as_microsecond()))
    }

    /// The time from an earlier point to this one; zero when it is not earlier.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// This point and a duration after it.
    #[must_use]
    pub fn after(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)))
    }

    /// The point that is this much earlier.
    #[must_use]
    pub fn before(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_microsecond(self.0) {
            Ok(time) => write!(formatter, "{time:.6}"),
            Err(_) => write!(formatter, "{} µs", self.0),
        }
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("expected an RFC 3339 time"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shown_with_microseconds_and_read_back() {
        let time = Timestamp::from_microseconds(1_796_112_000_000_001);
        assert_eq!(time.to_string(), "2026-12-01T08:00:00.000001Z");
        assert_eq!(Timestamp::parse(&time.to_string()), Some(time));
    }
}
