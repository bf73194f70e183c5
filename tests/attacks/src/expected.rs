//! Cases that are known to fail, each with its reason.

use anyhow::{Result, ensure};
use serde::Deserialize;

use crate::corpus::Manifest;
use crate::pass::User;

/// Cases of these categories must pass on every host.
const NEVER: [&str; 9] = [
    "output",
    "timing",
    "protocol",
    "unicode/encoding",
    "environment",
    "filesystem-read",
    "filesystem-write",
    "identity",
    "network",
];

/// The list.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExpectedFailures {
    failures: Vec<Failure>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Failure {
    case: String,
    user: String,
    reason: String,
}

impl ExpectedFailures {
    pub(crate) fn load() -> Result<Self> {
        Ok(toml::from_str(include_str!("../expected_failures.toml"))?)
    }

    /// Why a case is expected to fail for a user.
    pub(crate) fn reason(&self, case: &str, user: User) -> Option<&str> {
        let failure = self.failures.iter().find(|failure| failure.case == case && failure.user == user.name());
        failure.map(|failure| failure.reason.as_str())
    }

    /// Every entry names a case that may be on the list, and says why.
    pub(crate) fn check(&self, manifest: &Manifest) -> Result<()> {
        for Failure { case, user, reason } in &self.failures {
            let found = manifest.case(case);
            ensure!(found.is_some(), "{case} is no case");
            let category = found.map_or("", |found| &found.category);
            ensure!(!NEVER.contains(&category), "{case} must pass: its category is {category}");
            ensure!(User::ALL.iter().any(|known| known.name() == user), "{case}: {user} is no user");
            ensure!(!reason.trim().is_empty(), "{case}: no reason");
        }
        Ok(())
    }
}
