//! Calls that run once, however often they are sent.

use std::fmt;
use std::time::Duration;

use belljar_executor::{Digest, ExecutionId};
use serde::{Deserialize, Serialize};

use crate::audit::Receipt;

/// How long a key is remembered.
pub const REMEMBERED: Duration = Duration::from_secs(24 * 3600);

/// The longest key, characters.
const LONGEST: usize = 128;

/// A caller's own name for a call: 1 to 128 visible ASCII characters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    /// Parses a key.
    ///
    /// # Errors
    /// What a key is.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let is_key = (1..=LONGEST).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
        is_key.then(|| Self(text.to_owned())).ok_or("expected 1 to 128 visible ASCII characters")
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for IdempotencyKey {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text)
    }
}

impl From<IdempotencyKey> for String {
    fn from(key: IdempotencyKey) -> Self {
        key.0
    }
}

impl fmt::Display for IdempotencyKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// A key with the call that it stands for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Once {
    /// The key.
    pub key: IdempotencyKey,
    /// A digest of everything that was asked for.
    pub call: Digest,
}

/// A run that was started under a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Earlier {
    /// The run.
    pub execution_id: ExecutionId,
    /// The digest of the call that started it.
    pub call: Digest,
}

/// What opening a run came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Opened {
    /// It is open, and on the record.
    Now(Receipt),
    /// Another run was opened under its key; nothing was written.
    Earlier(Earlier),
}

impl Opened {
    /// The proof that it is on the record; none when another run had its key.
    #[must_use]
    pub fn receipt(self) -> Option<Receipt> {
        match self {
            Self::Now(receipt) => Some(receipt),
            Self::Earlier(_) => None,
        }
    }
}
