//! One entry, and the hash that ties it to the one before.
//!
//! The hash is the SHA-256 (lower-case hexadecimal) of a canonical JSON object with these keys in this
//! order and no white space: `action`, `actor`, `after`, `before`, `created_at`, `entity`, `id`,
//! `previous_hash`, `sequence`, `tenant`. `before` and `after` enter as *strings* that hold their own
//! canonical text (keys sorted at every level), or `null`.

use std::fmt;
use std::str::FromStr;

use belljar_executor::{Digest, TenantId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ids::AuditId;
use crate::time::Timestamp;

macro_rules! actions {
    ($($(#[$doc:meta])* $variant:ident = $name:literal;)*) => {
        /// What was done.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum Action { $($(#[$doc])* #[serde(rename = $name)] $variant,)* }

        impl Action {
            /// The stable name.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }

            /// The action with this name.
            #[must_use]
            pub fn parse(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)* _ => None }
            }
        }
    };
}

actions! {
    /// A script was about to be started.
    ScriptRun = "script.run";
    /// A script was refused.
    ScriptDenied = "script.denied";
    /// What a started run came to.
    ScriptOutcome = "script.outcome";
    /// A grant was given or renewed.
    ScriptGrant = "script.grant";
    /// A grant was revoked.
    ScriptRevoke = "script.revoke";
    /// A caller asked for what it may not.
    AccessDenied = "access.denied";
    /// A revision was saved.
    SkillSave = "skill.save";
    /// A revision became the one that runs.
    SkillPublish = "skill.publish";
    /// A skill was archived.
    SkillArchive = "skill.archive";
    /// An archived skill came back.
    SkillUnarchive = "skill.unarchive";
    /// A skill was deleted with all its revisions.
    SkillPurge = "skill.purge";
    /// Somebody asked for a run to be cancelled.
    ExecutionCancel = "execution.cancel";
    /// Runs were paused.
    ExecutionPause = "execution.pause";
    /// Runs were resumed.
    ExecutionResume = "execution.resume";
}

impl fmt::Display for Action {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// JSON text with keys sorted at every level and no white space.
#[must_use]
pub fn canonical_json(value: &Value) -> String {
    sorted(value).to_string()
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut keys: Vec<_> = map.iter().collect();
            keys.sort_by(|left, right| left.0.cmp(right.0));
            Value::Object(keys.into_iter().map(|(key, value)| (key.clone(), sorted(value))).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
        other => other.clone(),
    }
}

/// An entry that has no place in the chain yet. Only the store gives it one, inside the transaction
/// that also makes the change the entry tells of.
#[derive(Clone, Debug)]
pub struct AuditDraft {
    id: AuditId,
    tenant: TenantId,
    actor: String,
    action: Action,
    entity: String,
    before: Option<String>,
    after: Option<String>,
    created_at: Timestamp,
}

impl AuditDraft {
    /// An entry: who did what to which entity, when.
    #[must_use]
    pub fn new(
        id: AuditId,
        tenant: TenantId,
        actor: impl Into<String>,
        action: Action,
        entity: impl Into<String>,
        created_at: Timestamp,
    ) -> Self {
        let (actor, entity) = (actor.into(), entity.into());
        Self { id, tenant, actor, action, entity, before: None, after: None, created_at }
    }

    /// The state before.
    #[must_use]
    pub fn with_before(mut self, before: &Value) -> Self {
        self.before = Some(canonical_json(before));
        self
    }

    /// The state after, or the facts of the event.
    #[must_use]
    pub fn with_after(mut self, after: &Value) -> Self {
        self.after = Some(canonical_json(after));
        self
    }

    /// Sets one fact of the state after, which only the transaction knows.
    #[must_use]
    pub fn with_fact(mut self, key: &str, value: Value) -> Self {
        let facts = self.after.as_deref().and_then(|text| serde_json::from_str(text).ok());
        let mut facts = match facts {
            Some(Value::Object(facts)) => facts,
            _ => serde_json::Map::new(),
        };
        facts.insert(key.to_owned(), value);
        self.after = Some(canonical_json(&Value::Object(facts)));
        self
    }

    /// The tenant whose chain it belongs to.
    #[must_use]
    pub const fn tenant(&self) -> &TenantId {
        &self.tenant
    }

    /// Who does it.
    #[must_use]
    pub fn actor(&self) -> &str {
        &self.actor
    }

    /// When it was drafted.
    #[must_use]
    pub const fn created_at(&self) -> Timestamp {
        self.created_at
    }

    /// The entry as the next after `head`.
    #[must_use]
    pub fn seal(self, head: &Head) -> AuditEntry {
        let mut entry = AuditEntry {
            action: self.action,
            actor: self.actor,
            after: self.after,
            before: self.before,
            created_at: self.created_at,
            entity: self.entity,
            id: self.id,
            previous_hash: head.hash,
            sequence: head.sequence + 1,
            tenant: self.tenant,
            hash: Head::GENESIS.hash,
        };
        entry.hash = entry.computed_hash();
        entry
    }
}

/// One entry of a tenant's chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    /// What was done.
    pub action: Action,
    /// Who did it.
    pub actor: String,
    /// Canonical JSON text of the state after, or of the event's facts.
    pub after: Option<String>,
    /// Canonical JSON text of the state before.
    pub before: Option<String>,
    /// When.
    pub created_at: Timestamp,
    /// To what.
    pub entity: String,
    /// Its id.
    pub id: AuditId,
    /// The hash of the entry before.
    pub previous_hash: Digest,
    /// 1 for the tenant's first, without gaps.
    pub sequence: u64,
    /// The tenant.
    pub tenant: TenantId,
    /// Its own hash.
    pub hash: Digest,
}

impl AuditEntry {
    /// The hash that the entry's content and link ask for.
    #[must_use]
    pub fn computed_hash(&self) -> Digest {
        let text = |value: &Option<String>| value.as_ref().map_or(Value::Null, |text| Value::from(text.as_str()));
        let fields = [
            ("action", Value::from(self.action.as_str())),
            ("actor", Value::from(self.actor.as_str())),
            ("after", text(&self.after)),
            ("before", text(&self.before)),
            ("created_at", Value::from(self.created_at.to_string())),
            ("entity", Value::from(self.entity.as_str())),
            ("id", Value::from(self.id.as_str())),
            ("previous_hash", Value::from(self.previous_hash.lower_hex())),
            ("sequence", Value::from(self.sequence)),
            ("tenant", Value::from(self.tenant.as_str())),
        ];
        let object: serde_json::Map<_, _> = fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        Digest::of(Value::Object(object).to_string().as_bytes())
    }

    /// The chain's head once this entry is its last.
    #[must_use]
    pub const fn head(&self) -> Head {
        Head { sequence: self.sequence, hash: self.hash }
    }

    /// The facts of the event, as JSON.
    #[must_use]
    pub fn facts(&self) -> Value {
        self.after.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or(Value::Null)
    }
}

/// The last entry of a chain: its sequence number and hash, written `SEQ:HASH`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The sequence number; 0 for an empty chain.
    pub sequence: u64,
    /// The hash.
    pub hash: Digest,
}

impl Head {
    /// The head of an empty chain.
    pub const GENESIS: Self = Self { sequence: 0, hash: Digest::from_bytes([0; 32]) };
}

impl fmt::Display for Head {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.sequence, self.hash.lower_hex())
    }
}

impl FromStr for Head {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (sequence, hash) = text.split_once(':').ok_or("expected SEQ:HASH")?;
        let sequence = sequence.parse().map_err(|_| "expected a whole number before the colon")?;
        let hash = Digest::parse(hash).ok_or("expected 64 hexadecimal digits after the colon")?;
        Ok(Self { sequence, hash })
    }
}

/// Proof of an entry: what a caller keeps to find it again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// The entry's id.
    pub audit_id: AuditId,
    /// Its sequence number.
    pub sequence: u64,
    /// Its hash, lower-case hexadecimal.
    pub hash: String,
}

impl From<&AuditEntry> for Receipt {
    fn from(entry: &AuditEntry) -> Self {
        Self { audit_id: entry.id.clone(), sequence: entry.sequence, hash: entry.hash.lower_hex() }
    }
}
