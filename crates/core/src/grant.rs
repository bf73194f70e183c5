//! Grants: what a tenant may run, at which pin, until when.

use belljar_executor::{Digest, FieldHasher, LogicalPath, SkillName, TenantId};
use serde::{Deserialize, Serialize};

use crate::ids::{GrantId, PendingId, RevisionId, SkillId};
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

/// A script that was refused for want of a grant, at one pin: what a person may want to approve.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PendingGrant {
    /// Its id: the same script at the same pin has the same.
    pub id: PendingId,
    /// The tenant.
    pub tenant: TenantId,
    /// The skill, as grants name it.
    pub skill_id: SkillId,
    /// The skill's name.
    pub slug: SkillName,
    /// The script.
    pub script: LogicalPath,
    /// The pin that was asked for.
    pub pin: Digest,
    /// The revision that has it; a skill that is not in the store has none.
    pub revision_id: Option<RevisionId>,
    /// Why it was refused last.
    pub reason: String,
    /// Who asked last.
    pub asked_by: String,
    /// How often it was asked for.
    pub asked: u32,
    /// When first.
    pub first_at: Timestamp,
    /// When last.
    pub last_at: Timestamp,
}

impl PendingGrant {
    /// The id of this script at this pin.
    #[must_use]
    pub fn id_of(skill_id: &SkillId, script: &LogicalPath, pin: Digest) -> PendingId {
        let hasher = FieldHasher::new("belljar.pending.v1").field(skill_id.as_str().as_bytes());
        let digest = hasher.field(script.as_str().as_bytes()).field(pin.as_bytes()).finish();
        PendingId::new(&format!("p-{}", &digest.lower_hex()[..16]))
    }
}

impl Grant {
    /// Whether it counts at this moment. One that expires exactly now does not.
    #[must_use]
    pub fn is_active(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|expiry| expiry > now)
    }
}
