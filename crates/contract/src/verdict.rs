//! What a clause finds.

use std::fmt;

/// What a clause gives: nothing to say, or where the executor deviates.
pub type Checked = Result<(), Deviation>;

/// Why a clause did not pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deviation {
    /// The executor did something else.
    Fail {
        /// What the clause demands.
        expected: String,
        /// What happened.
        found: String,
    },
    /// The clause could not be looked at.
    Skip {
        /// What is missing.
        reason: String,
    },
}

impl Deviation {
    /// The executor did something else.
    pub(crate) fn fail(expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self::Fail { expected: expected.into(), found: found.into() }
    }

    /// The clause could not be looked at.
    pub(crate) fn skip(reason: impl Into<String>) -> Self {
        Self::Skip { reason: reason.into() }
    }
}

/// Passes when the condition holds.
pub(crate) fn demand(holds: bool, expected: &str, found: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(Deviation::fail(expected, found())) }
}

/// The verdict on one clause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The executor satisfies it.
    Pass,
    /// It does not.
    Fail {
        /// What the clause demands.
        expected: String,
        /// What happened.
        found: String,
    },
    /// Nobody knows.
    Skipped {
        /// Why it was not looked at.
        reason: String,
    },
}

impl Verdict {
    /// Whether the executor does not satisfy the clause.
    #[must_use]
    pub const fn is_fail(&self) -> bool {
        matches!(self, Self::Fail { .. })
    }

    /// The word in tables.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail { .. } => "FAIL",
            Self::Skipped { .. } => "skip",
        }
    }
}

impl From<Checked> for Verdict {
    fn from(checked: Checked) -> Self {
        match checked {
            Ok(()) => Self::Pass,
            Err(Deviation::Fail { expected, found }) => Self::Fail { expected, found },
            Err(Deviation::Skip { reason }) => Self::Skipped { reason },
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pass => Ok(()),
            Self::Fail { expected, found } => write!(formatter, "expected {expected}; found {found}"),
            Self::Skipped { reason } => formatter.write_str(reason),
        }
    }
}
