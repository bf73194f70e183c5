//! Grants: what a tenant may run, at which pin, until when.

use belljar_executor::{Digest, LogicalPath, TenantId};
use serde::{Deserialize, Serialize};

use crate::ids::{GrantId, SkillId};
use crate::time::Timestamp;

/// What of a skill a grant covers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum GrantTarget {
    /// One script, by its path.
    Script(String),
    /// Every script of the skill, as a set: written `*`.
    AllScripts,
}

impl GrantTarget {
    /// The target that is exactly this script.
    #[must_use]
    pub fn script(path: &LogicalPath) -> Self {
        Self::Script(path.as_str().to_owned())
    }

    /// The path, or `*`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Script(path) => path,
            Self::AllScripts => "*",
        }
    }
}

impl From<String> for GrantTarget {
    fn from(text: String) -> Self {
        if text == "*" { Self::AllScripts } else { Self::Script(text) }
    }
}

impl From<GrantTarget> for String {
    fn from(target: GrantTarget) -> Self {
        target.as_str().to_owned()
    }
}

/// Lets one tenant run one script, or all scripts, of one skill, at one pin. Its key is (tenant, skill,
/// target, pin), so several revisions may be approved at once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// Its id.
    pub id: GrantId,
    /// The tenant.
    pub tenant: TenantId,
    /// The skill.
    pub skill_id: SkillId,
    /// The script, or all of them.
    pub target: GrantTarget,
    /// The pin; a grant without one opens no stored script.
    pub pin: Option<Digest>,
    /// Who granted.
    pub granted_by: String,
    /// When.
    pub granted_at: Timestamp,
    /// From when on it no longer counts; `None`: never.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
}

impl Grant {
    /// Whether it counts at this moment. One that expires exactly now does not.
    #[must_use]
    pub fn is_active(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|expiry| expiry > now)
    }
}
