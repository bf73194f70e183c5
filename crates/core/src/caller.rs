//! Who asks. Made by an authenticator, and by nothing else.

use std::collections::BTreeSet;
use std::fmt;

use belljar_executor::TenantId;
use serde::{Deserialize, Serialize};

/// What a caller may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Scope {
    /// Recall skills and read own executions.
    #[serde(rename = "memory:read")]
    MemoryRead,
    /// Save and execute skills.
    #[serde(rename = "memory:write")]
    MemoryWrite,
    /// Grant and revoke scripts, read pins and the tenant's audit trail.
    #[serde(rename = "skills:grant")]
    SkillsGrant,
    /// What reaches beyond one tenant.
    #[serde(rename = "platform:admin")]
    PlatformAdmin,
}

impl Scope {
    /// Every scope.
    pub const ALL: [Self; 4] = [Self::MemoryRead, Self::MemoryWrite, Self::SkillsGrant, Self::PlatformAdmin];

    /// The name used in configuration and tokens.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::MemoryRead => "memory:read",
            Self::MemoryWrite => "memory:write",
            Self::SkillsGrant => "skills:grant",
            Self::PlatformAdmin => "platform:admin",
        }
    }
}

/// Who owns a skill.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Owner {
    /// One person.
    Personal(String),
    /// A team.
    Team(String),
}

impl fmt::Display for Owner {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Personal(subject) => write!(formatter, "personal:{subject}"),
            Self::Team(team) => write!(formatter, "team:{team}"),
        }
    }
}

impl From<Owner> for String {
    fn from(owner: Owner) -> Self {
        owner.to_string()
    }
}

impl TryFrom<String> for Owner {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        match text.split_once(':') {
            Some(("personal", subject)) if !subject.is_empty() => Ok(Self::Personal(subject.into())),
            Some(("team", team)) if !team.is_empty() => Ok(Self::Team(team.into())),
            _ => Err("expected personal:SUBJECT or team:TEAM"),
        }
    }
}

/// Who asks: tenant, subject, teams and scopes. The tenant of every query comes from here.
#[derive(Clone, Debug)]
pub struct Caller {
    tenant: TenantId,
    subject: String,
    teams: BTreeSet<String>,
    scopes: BTreeSet<Scope>,
}

impl Caller {
    /// A caller whose identity was established. Only an authenticator calls this: nothing that a
    /// request says about itself may end up here unchecked.
    #[must_use]
    pub fn authenticated(
        tenant: TenantId,
        subject: impl Into<String>,
        teams: impl IntoIterator<Item = String>,
        scopes: impl IntoIterator<Item = Scope>,
    ) -> Self {
        Self {
            tenant,
            subject: subject.into(),
            teams: teams.into_iter().collect(),
            scopes: scopes.into_iter().collect(),
        }
    }

    /// The tenant.
    #[must_use]
    pub const fn tenant(&self) -> &TenantId {
        &self.tenant
    }

    /// The subject: locally the name of the operating system's user.
    #[must_use]
    pub fn subject(&self) -> &str {
        &self.subject
    }

    /// Whether the caller has this scope.
    #[must_use]
    pub fn may(&self, scope: Scope) -> bool {
        self.scopes.contains(&scope)
    }

    /// The owners whose skills the caller sees: itself first, then its teams.
    #[must_use]
    pub fn owners(&self) -> Vec<Owner> {
        let teams = self.teams.iter().map(|team| Owner::Team(team.clone()));
        std::iter::once(self.personal()).chain(teams).collect()
    }

    /// The caller as an owner.
    #[must_use]
    pub fn personal(&self) -> Owner {
        Owner::Personal(self.subject.clone())
    }

    /// Whether something of this owner is in the caller's scope.
    #[must_use]
    pub fn sees(&self, owner: &Owner) -> bool {
        match owner {
            Owner::Personal(subject) => *subject == self.subject,
            Owner::Team(team) => self.teams.contains(team),
        }
    }
}
