//! What can go wrong in an executor, in two parts: a kind for everybody and a source for the log.

use std::error::Error;
use std::fmt;

/// The kinds that this project's own executors use. A stranger's executor names its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorKind;

impl ErrorKind {
    /// The isolation cannot be had; nothing of the script ran.
    pub const UNAVAILABLE: &'static str = "Unavailable";
    /// The request's origin is not one this executor runs.
    pub const UNSUPPORTED_ORIGIN: &'static str = "UnsupportedOrigin";
    /// The token fired and the whole process tree is gone.
    pub const CANCELLED: &'static str = "Cancelled";
    /// Anything else.
    pub const FAULT: &'static str = "Fault";
}

/// A run that gave no outcome. Only [`kind`](Self::kind) reaches the model and the record; the source
/// goes to the server's log.
#[derive(Debug)]
pub struct ExecutorError {
    kind: &'static str,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl ExecutorError {
    /// An error of a kind of the caller's own: by convention the name of its error type.
    pub fn new(kind: &'static str, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { kind, source: Some(source.into()) }
    }

    /// The isolation cannot be had; nothing of the script ran.
    pub fn unavailable(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::new(ErrorKind::UNAVAILABLE, source)
    }

    /// The request's origin is not supported.
    #[must_use]
    pub fn unsupported_origin() -> Self {
        Self { kind: ErrorKind::UNSUPPORTED_ORIGIN, source: None }
    }

    /// The token fired, and nothing of the run is left.
    #[must_use]
    pub fn cancelled() -> Self {
        Self { kind: ErrorKind::CANCELLED, source: None }
    }

    /// A fault of the executor or of what it stands on.
    pub fn fault(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::new(ErrorKind::FAULT, source)
    }

    /// The stable kind.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        self.kind
    }
}

impl fmt::Display for ExecutorError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.kind)
    }
}

impl Error for ExecutorError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_ref().map(|source| &**source as &(dyn Error + 'static))
    }
}
