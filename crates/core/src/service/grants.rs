//! Pins, granting and revoking.

use std::collections::{BTreeMap, BTreeSet};

use belljar_executor::{Digest, LogicalPath, Origin};
use serde::Serialize;
use serde_json::json;

use super::{Belljar, need};
use crate::audit::{Action, AuditDraft};
use crate::caller::{Caller, Scope};
use crate::code::{Code, Reason};
use crate::grant::{Grant, GrantTarget};
use crate::ids::{AuditId, GrantId, RevisionId, SkillId};
use crate::pin::Pinner;
use crate::refusal::Refusal;
use crate::run::{SkillSelector, edition, find_script, find_skill};
use crate::skill::Edition;
use crate::time::Timestamp;

/// One script's pin.
#[derive(Clone, Debug, Serialize)]
pub struct PinnedScript {
    /// Its pin.
    pub pin: Digest,
    /// The runtime name or interpreter path that would run it; none while its language is not allowed.
    pub interpreter: Option<String>,
}

/// The pins of a revision under this configuration.
#[derive(Clone, Debug, Serialize)]
pub struct Pins {
    /// The skill at the files that are pinned.
    #[serde(skip)]
    pub edition: Edition,
    /// Every script.
    pub scripts: BTreeMap<LogicalPath, PinnedScript>,
    /// All scripts as a set, as a `*` grant pins them.
    pub all: Digest,
}

/// What is to be granted.
#[derive(Clone, Debug)]
pub struct GrantRequest {
    /// The skill.
    pub skill: SkillSelector,
    /// The revision; without one the published, else the latest.
    pub revision: Option<RevisionId>,
    /// A script by path or component id, or `*`.
    pub target: String,
    /// The pin that the reviewer saw.
    pub expected_pin: Digest,
    /// From when on the grant no longer counts.
    pub expires_at: Option<Timestamp>,
    /// Whether the other grants of the same target are revoked.
    pub replace: bool,
}

impl GrantRequest {
    /// A grant for this script, or `*`, at the pin that the reviewer saw; without an expiry, beside others.
    #[must_use]
    pub fn new(skill: SkillSelector, target: &str, expected_pin: Digest) -> Self {
        Self { skill, revision: None, target: target.to_owned(), expected_pin, expires_at: None, replace: false }
    }
}

/// Which grants are to be revoked.
#[derive(Clone, Debug)]
pub enum Revocation {
    /// One grant.
    Id(GrantId),
    /// Every active grant of a target of a skill; `None`: of the whole skill.
    Target(SkillSelector, Option<String>),
}

impl Belljar {
    /// The pins of a revision.
    ///
    /// # Errors
    /// `ACCESS_DENIED`, `SKILL_NOT_FOUND`, `REVISION_NOT_FOUND`, `STORE_UNAVAILABLE`.
    pub async fn pins(
        &self,
        caller: &Caller,
        skill: &SkillSelector,
        revision: Option<&RevisionId>,
    ) -> Result<Pins, Refusal> {
        need(caller, Scope::SkillsGrant)?;
        let located = find_skill(&self.world, caller, skill).await?;
        let edition = edition(&self.world, caller, located, revision).await?;
        let options = &self.world.options;
        let pinner = Pinner { options, manifest: edition.manifest(), files: edition.files() };
        let scripts = edition.manifest().scripts.iter().filter_map(|(path, declaration)| {
            let interpreter = declaration.language.as_ref().and_then(|key| options.interpreter(key));
            let pin = pinner.script(path)?;
            Some((path.clone(), PinnedScript { pin, interpreter: interpreter.map(ToString::to_string) }))
        });
        let (scripts, all) = (scripts.collect(), pinner.all());
        Ok(Pins { edition, scripts, all })
    }

    /// Grants exactly what the reviewer saw.
    ///
    /// # Errors
    /// `CONFLICT` when the pin is not the current one; the answer does not tell the current one.
    /// `SCRIPT_DENIED` while the script's language is not allowed.
    pub async fn grant(&self, caller: &Caller, request: GrantRequest) -> Result<Grant, Refusal> {
        let ports = &self.world.ports;
        let now = ports.clock.now();
        if request.expires_at.is_some_and(|expiry| expiry <= now) {
            return Err(Refusal::invalid_argument("expires_at", "must be in the future"));
        }
        let pins = self.pins(caller, &request.skill, request.revision.as_ref()).await?;
        if self.world.options.multi_tenant() && pins.edition.origin() == Origin::Stored {
            need(caller, Scope::PlatformAdmin)?;
        }
        let (target, current) = target_of(&pins, &request.target)?;
        if current != request.expected_pin {
            let message = "The pin is not the one of what would run now; look at it again before you grant it.";
            return Err(Refusal::new(Code::Conflict, message));
        }
        let grant = Grant {
            id: GrantId::new(&ports.ids.new_id()),
            tenant: caller.tenant().clone(),
            skill_id: pins.edition.grant_key.clone(),
            target,
            pin: Some(request.expected_pin),
            granted_by: caller.subject().to_owned(),
            granted_at: now,
            expires_at: request.expires_at,
            revoked_at: None,
        };
        let entity = format!("{}/{}", pins.edition.slug(), grant.target.as_str());
        let facts = json!({ "grant": grant, "revision_id": pins.edition.revision().map(|revision| &revision.id), "replace": request.replace });
        let draft = self.draft(caller, Action::ScriptGrant, entity, now).with_after(&facts);
        Ok(ports.grants.add(grant, request.replace, draft).await?)
    }

    /// Revokes grants; it takes effect on the next run.
    ///
    /// # Errors
    /// `NOT_FOUND` when none of them is active.
    pub async fn revoke(&self, caller: &Caller, revocation: Revocation) -> Result<Vec<Grant>, Refusal> {
        need(caller, Scope::SkillsGrant)?;
        let ports = &self.world.ports;
        let now = ports.clock.now();
        let grants = self.chosen(caller, &revocation).await?;
        let active: Vec<_> = grants.into_iter().filter(|grant| grant.is_active(now)).collect();
        let ids: Vec<_> = active.iter().map(|grant| grant.id.clone()).collect();
        let none = || Refusal::new(Code::NotFound, "No active grant is meant by this.");
        let first = active.first().ok_or_else(none)?;
        let slug = self.slug_of(caller, &first.skill_id).await?.unwrap_or_else(|| first.skill_id.to_string());
        let entity = match &ids[..] {
            [_] => format!("{slug}/{}", first.target.as_str()),
            _ => slug,
        };
        let draft = self.draft(caller, Action::ScriptRevoke, entity, now);
        let draft = draft.with_before(&json!({ "grants": active })).with_after(&json!({ "revoked": ids }));
        let revoked = ports.grants.revoke(caller.tenant(), &ids, now, draft).await?;
        if revoked.is_empty() { Err(none()) } else { Ok(revoked) }
    }

    async fn chosen(&self, caller: &Caller, revocation: &Revocation) -> Result<Vec<Grant>, Refusal> {
        let grants = self.world.ports.grants.list(caller.tenant()).await?;
        match revocation {
            Revocation::Id(id) => Ok(grants.into_iter().filter(|grant| grant.id == *id).collect()),
            Revocation::Target(selector, target) => {
                let keys = self.grant_keys(caller, selector, &grants).await?;
                let meant = |grant: &Grant| {
                    keys.contains(&grant.skill_id)
                        && target.as_ref().is_none_or(|target| grant.target.as_str() == target)
                };
                Ok(grants.into_iter().filter(meant).collect())
            }
        }
    }

    /// The keys under which grants of a skill stand. By name those of every skill of that name in the tenant:
    /// stored ones of any owner, registered and file skills, also ones that are hidden by another or not there
    /// any more. Revoking too much is safe, too little is not.
    async fn grant_keys(
        &self,
        caller: &Caller,
        selector: &SkillSelector,
        grants: &[Grant],
    ) -> Result<BTreeSet<SkillId>, Refusal> {
        let slug = match selector {
            SkillSelector::Slug(slug) | SkillSelector::Of(_, slug) => slug,
            SkillSelector::Id(id) | SkillSelector::Both(id, _) => return Ok(BTreeSet::from([id.clone()])),
        };
        let mut keys = BTreeSet::new();
        for grant in grants {
            if self.slug_of(caller, &grant.skill_id).await?.as_deref() == Some(slug.as_str()) {
                keys.insert(grant.skill_id.clone());
            }
        }
        if keys.is_empty() {
            // For the answer alone: there is no such skill, or it has no grants.
            find_skill(&self.world, caller, selector).await?;
        }
        Ok(keys)
    }

    /// All of the tenant's grants, revoked and expired ones too, with the names of their skills.
    ///
    /// # Errors
    /// `ACCESS_DENIED`, `STORE_UNAVAILABLE`.
    pub async fn grants(&self, caller: &Caller) -> Result<Vec<(Grant, Option<String>)>, Refusal> {
        need(caller, Scope::SkillsGrant)?;
        let mut listed = Vec::new();
        for grant in self.world.ports.grants.list(caller.tenant()).await? {
            let slug = self.slug_of(caller, &grant.skill_id).await?;
            listed.push((grant, slug));
        }
        Ok(listed)
    }

    async fn slug_of(&self, caller: &Caller, key: &SkillId) -> Result<Option<String>, Refusal> {
        if let Some(slug) = key.unstored_slug() {
            return Ok(Some(slug.to_owned()));
        }
        let skill = self.world.ports.skills.find_by_id(caller.tenant(), key).await?;
        Ok(skill.map(|skill| skill.slug.to_string()))
    }

    pub(super) fn draft(&self, caller: &Caller, action: Action, entity: String, now: Timestamp) -> AuditDraft {
        let id = AuditId::new(&self.world.ports.ids.new_id());
        AuditDraft::new(id, caller.tenant().clone(), caller.subject(), action, entity, now)
    }
}

pub(super) fn target_of(pins: &Pins, target: &str) -> Result<(GrantTarget, Digest), Refusal> {
    if target == "*" {
        return Ok((GrantTarget::AllScripts, pins.all));
    }
    let path = find_script(pins.edition.manifest(), target)?;
    if path.as_str() == GrantTarget::AllScripts.as_str() {
        // No manifest has such a script; one that had would be taken for all of them.
        return Err(Refusal::denied(Reason::ScriptNameInvalid));
    }
    let pinned = pins.scripts.get(&path);
    let pinned = pinned.ok_or_else(|| Refusal::new(Code::ScriptNotFound, "The revision has no such script."))?;
    if pinned.interpreter.is_none() {
        // Allowing its language later changes the pin, so that this grant would never open anything.
        return Err(Refusal::denied(Reason::InterpreterNotAllowed));
    }
    Ok((GrantTarget::script(&path), pinned.pin))
}
