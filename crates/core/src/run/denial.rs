//! What happens to a call that a gate, or the isolation, keeps from running.

use belljar_executor::Unavailable;
use serde_json::{Value, json};

use super::{Resolved, World};
use crate::audit::{Action, AuditDraft};
use crate::caller::{Caller, Scope};
use crate::code::{Code, Reason};
use crate::grant::PendingGrant;
use crate::ids::AuditId;
use crate::ports::StoreError;
use crate::refusal::Refusal;

/// A resolved call with the reason why it does not run.
#[derive(Debug)]
pub struct Denial {
    pub(super) reason: Reason,
    pub(super) resolved: Box<Resolved>,
    pub(super) unavailable: Option<Box<Unavailable>>,
}

/// Why a call stops before anything is recorded as a run.
#[derive(Debug)]
pub enum Stop {
    /// Refused; nothing is audited.
    Refused(Refusal),
    /// The caller asked for what it may not.
    AccessDenied {
        /// Who asked.
        caller: Box<Caller>,
        /// The answer.
        refusal: Refusal,
    },
    /// A gate is closed or the executor not ready.
    Denied(Denial),
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        Self::Refused(error.into())
    }
}

impl Stop {
    /// Audits the stop, best effort, and answers the caller: if that write fails it is logged and
    /// counted, and the denial stands.
    pub async fn refuse(self, world: &World) -> Refusal {
        match self {
            Self::Refused(refusal) => refusal,
            Self::AccessDenied { caller, refusal } => {
                if world.access_denials.admits(&caller, world.ports.clock.now()) {
                    append(world, draft(world, &caller, Action::AccessDenied, "skill")).await;
                }
                refusal
            }
            Self::Denied(denial) => denial.refuse(world).await,
        }
    }
}

impl Denial {
    /// The reason.
    #[must_use]
    pub const fn reason(&self) -> Reason {
        self.reason
    }

    async fn refuse(self, world: &World) -> Refusal {
        let Self { reason, resolved, unavailable } = self;
        tracing::Span::current().record("denial_reason", reason.as_str());
        world.meter.denied(reason);
        let entity = format!("{}/{}", resolved.edition.slug(), resolved.path);
        let facts = json!({
            "reason": reason,
            "skill_id": resolved.edition.revision().map(|revision| &revision.skill_id),
            "revision_id": resolved.edition.revision().map(|revision| &revision.id),
            "origin": resolved.edition.origin(),
            "script_path": resolved.path,
            "run_id": resolved.run_id,
        });
        let audit = draft(world, &resolved.caller, Action::ScriptDenied, &entity).with_after(&facts);
        let pending = pending(world, &resolved, reason);
        let waits = pending.as_ref().map(|pending| pending.id.clone());
        let appended = match pending {
            Some(pending) => world.ports.grants.refuse(pending, audit).await,
            None => world.ports.audit.append(audit).await.map(drop),
        };
        // What could not be kept waits for nobody.
        let waits = waits.filter(|_| appended.is_ok());
        note_failure(world, appended);
        if let Some(unavailable) = unavailable {
            return unavailable_refusal(&unavailable);
        }
        let refusal = Refusal::denied(reason);
        let refusal = match waits {
            Some(id) => refusal.with("pending_id", json!(id)),
            None => refusal,
        };
        match reason {
            Reason::ContentChanged if resolved.caller.may(Scope::SkillsGrant) => {
                match changed_files(world, &resolved).await {
                    Ok(Some(changed)) => refusal.with("changed_files", changed),
                    Ok(None) | Err(_) => refusal,
                }
            }
            _ => refusal,
        }
    }
}

/// The answer when the isolation cannot be had: which protection is missing, why, and what mends it.
#[must_use]
pub fn unavailable_refusal(unavailable: &Unavailable) -> Refusal {
    let Unavailable { cause, control, message, remedy } = unavailable;
    let text = format!("The configured isolation cannot be had on this host: {message}. To mend it: {remedy}");
    Refusal::new(Code::SandboxUnavailable, text)
        .with("cause", json!(cause))
        .with("control", json!(control))
        .with("remedy", json!(remedy))
}

fn draft(world: &World, caller: &Caller, action: Action, entity: &str) -> AuditDraft {
    let id = AuditId::new(&world.ports.ids.new_id());
    AuditDraft::new(id, caller.tenant().clone(), caller.subject(), action, entity, world.ports.clock.now())
}

/// What a person would have to approve for this call; none when no grant would help, also because the script's
/// language is not allowed.
fn pending(world: &World, resolved: &Resolved, reason: Reason) -> Option<PendingGrant> {
    if !reason.wants_a_grant() {
        return None;
    }
    let Resolved { edition, path, declaration, caller, .. } = resolved;
    declaration.language.as_ref().and_then(|key| world.options.interpreter(key))?;
    let pinner = crate::pin::Pinner { options: &world.options, manifest: edition.manifest(), files: edition.files() };
    let (pin, now) = (pinner.script(path)?, world.ports.clock.now());
    Some(PendingGrant {
        id: PendingGrant::id_of(&edition.grant_key, path, pin),
        tenant: edition.tenant.clone(),
        skill_id: edition.grant_key.clone(),
        slug: edition.slug().clone(),
        script: path.clone(),
        pin,
        revision_id: edition.revision().map(|revision| revision.id.clone()),
        reason: reason.as_str().to_owned(),
        asked_by: caller.subject().to_owned(),
        asked: 1,
        first_at: now,
        last_at: now,
    })
}

async fn append(world: &World, draft: AuditDraft) {
    let appended = world.ports.audit.append(draft).await.map(drop);
    note_failure(world, appended);
}

fn note_failure(world: &World, appended: Result<(), StoreError>) {
    if let Err(error) = appended {
        world.meter.audit_swallowed();
        world.health.audit_written(false);
        tracing::error!(%error, "a denial could not be audited; it stands");
    }
}

/// The files that differ between what would run and the revision that an active grant pins; `None` when
/// that cannot be told: the files of a skill that is not in the store were not kept.
async fn changed_files(world: &World, resolved: &Resolved) -> Result<Option<Value>, StoreError> {
    let Resolved { edition, path, .. } = resolved;
    let Some(revision) = edition.revision() else { return Ok(None) };
    let now = world.ports.clock.now();
    let grants = world.ports.grants.active(&edition.tenant, &edition.grant_key, path, now).await?;
    for earlier in world.ports.skills.revisions(&edition.tenant, &revision.skill_id).await?.into_iter().take(100) {
        let files = world.ports.skills.files(&edition.tenant, &earlier.id).await?;
        let pinner = crate::pin::Pinner { options: &world.options, manifest: &earlier.manifest, files: &files };
        let pins = [pinner.script(path), Some(pinner.all())];
        if earlier.id == revision.id || !grants.iter().any(|grant| grant.pin.is_some() && pins.contains(&grant.pin)) {
            continue;
        }
        let (before, after) = (&earlier.manifest.files, &revision.manifest.files);
        let changed: Vec<_> = before
            .keys()
            .chain(after.keys())
            .filter(|path| before.get(*path).map(|file| file.sha256) != after.get(*path).map(|file| file.sha256))
            .collect::<std::collections::BTreeSet<_>>()
            .into_iter()
            .collect();
        return Ok(Some(json!(changed)));
    }
    Ok(None)
}
