//! Whether somebody who runs clauses one by one runs them all.

use std::fmt;

use crate::{Clause, Level};

/// The coverage check: a clause that a later version of this crate adds must not go untested.
#[derive(Clone, Copy, Debug)]
pub struct Coverage;

impl Coverage {
    /// The clauses of this version that are neither run nor exempted, sorted by name. An exemption is
    /// a name and a reason.
    ///
    /// # Errors
    /// [`CoverageError`] when a name in either list is no clause, or an exemption is not a good one.
    pub fn missing(ran: &[&str], exemptions: &[(&str, &str)]) -> Result<Vec<&'static str>, CoverageError> {
        if let Some(name) = ran.iter().find(|name| Clause::find(name).is_none()) {
            return Err(CoverageError::UnknownClause((*name).to_owned()));
        }
        for (name, reason) in exemptions {
            match Clause::find(name) {
                None => return Err(CoverageError::StaleExemption((*name).to_owned())),
                Some(clause) if clause.level() == Level::Core => {
                    return Err(CoverageError::CoreExemption((*name).to_owned()));
                }
                Some(_) if reason.trim().is_empty() => return Err(CoverageError::NoReason((*name).to_owned())),
                Some(_) if ran.contains(name) => return Err(CoverageError::ExemptedAndRun((*name).to_owned())),
                Some(_) => {}
            }
        }
        let known = |name: &str| ran.contains(&name) || exemptions.iter().any(|(exempted, _)| *exempted == name);
        let mut missing: Vec<_> = Clause::all().iter().map(Clause::name).filter(|name| !known(name)).collect();
        missing.sort_unstable();
        Ok(missing)
    }
}

/// What is wrong with the lists themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CoverageError {
    /// A name that was run is no clause of this version.
    UnknownClause(String),
    /// An exemption names no clause of this version.
    StaleExemption(String),
    /// An exemption names a core clause.
    CoreExemption(String),
    /// An exemption has no reason.
    NoReason(String),
    /// An exemption names a clause that is run all the same.
    ExemptedAndRun(String),
}

impl fmt::Display for CoverageError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownClause(name) => write!(formatter, "`{name}` was run and is no clause"),
            Self::StaleExemption(name) => write!(formatter, "the exemption of `{name}` is stale: it is no clause"),
            Self::CoreExemption(name) => write!(formatter, "`{name}` is a core clause and cannot be exempted"),
            Self::NoReason(name) => write!(formatter, "the exemption of `{name}` has no reason"),
            Self::ExemptedAndRun(name) => write!(formatter, "the exemption of `{name}` is stale: it is run"),
        }
    }
}

impl std::error::Error for CoverageError {}
