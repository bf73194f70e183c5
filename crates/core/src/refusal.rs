//! A call that was refused or failed before an executor was called.

use std::fmt;
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::code::{Code, Reason};
use crate::ports::StoreError;

/// A refusal: a stable code and a sentence for the caller. The cause goes to the log.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    code: Code,
    message: String,
    details: Box<Map<String, Value>>,
    retry_after: Option<Duration>,
}

impl Refusal {
    /// A refusal with this code and sentence.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), details: Box::default(), retry_after: None }
    }

    /// A closed gate.
    #[must_use]
    pub fn denied(reason: Reason) -> Self {
        Self::new(Code::ScriptDenied, reason.sentence()).with("reason", json!(reason))
    }

    /// An argument that is wrong, by name.
    pub fn invalid_argument(name: &str, message: impl fmt::Display) -> Self {
        Self::new(Code::InvalidArgument, format!("{name}: {message}")).with("argument", name.into())
    }

    /// Adds a detail.
    #[must_use]
    pub fn with(mut self, key: &str, value: Value) -> Self {
        self.details.insert(key.to_owned(), value);
        self
    }

    /// Says when trying again makes sense.
    #[must_use]
    pub const fn retry_after(mut self, delay: Duration) -> Self {
        self.retry_after = Some(delay);
        self
    }

    /// The code.
    #[must_use]
    pub const fn code(&self) -> Code {
        self.code
    }

    /// The sentence.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The details.
    #[must_use]
    pub fn details(&self) -> &Map<String, Value> {
        &self.details
    }

    /// The reason of a denial.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        self.details.get("reason")?.as_str()
    }

    /// When trying again makes sense.
    #[must_use]
    pub const fn retry_delay(&self) -> Option<Duration> {
        self.retry_after
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.code, self.message)
    }
}

impl std::error::Error for Refusal {}

impl From<StoreError> for Refusal {
    /// The cause is logged here, once; the caller gets the code.
    fn from(error: StoreError) -> Self {
        tracing::error!(error = %error, cause = ?std::error::Error::source(&error), "the store failed");
        match error {
            StoreError::Unavailable(_) => Self::new(Code::StoreUnavailable, "The store cannot be read or written."),
            StoreError::Damaged(_) => Self::new(Code::Internal, "The store is damaged; its operator must look at it."),
        }
    }
}
