//! A call that was sent before under the same key: it is answered with what came of it then.

use std::time::Duration;

use belljar_executor::{Cancel, FieldHasher};
use serde_json::Value;

use super::{Answer, Call, SkillSelector, World};
use crate::audit::canonical_json;
use crate::caller::{Caller, Scope};
use crate::code::Code;
use crate::execution::Status;
use crate::ids::{RevisionId, SkillId};
use crate::once::{Earlier, Once, REMEMBERED};
use crate::refusal::Refusal;
use crate::time::Timestamp;

/// How often a run that is still under way is looked at; it may be another process's.
const INTERVAL: Duration = Duration::from_millis(50);

impl Call {
    /// The key with the call that it stands for.
    pub(super) fn once(&self) -> Option<Once> {
        let (id, slug, owner) = match &self.skill {
            SkillSelector::Slug(slug) => (None, Some(slug.as_str()), None),
            SkillSelector::Id(id) => (Some(id), None, None),
            SkillSelector::Both(id, slug) => (Some(id), Some(slug.as_str()), None),
            SkillSelector::Of(owner, slug) => (None, Some(slug.as_str()), Some(owner.to_string())),
        };
        // The order of an object's properties means nothing.
        let arguments = self.arguments_json.as_deref().map(|text| {
            serde_json::from_str::<Value>(text).map_or_else(|_| text.to_owned(), |value| canonical_json(&value))
        });
        let timeout = self.timeout_seconds.map(|seconds| seconds.to_string());
        let texts = [
            id.map(SkillId::as_str),
            slug,
            owner.as_deref(),
            self.revision.as_ref().map(RevisionId::as_str),
            Some(self.script.as_str()),
            arguments.as_deref(),
            timeout.as_deref(),
        ];
        let hasher = texts.iter().fold(FieldHasher::new("belljar.call.v1"), |hasher, text| {
            let hasher = hasher.field(&[u8::from(text.is_some())]);
            hasher.field(text.unwrap_or_default().as_bytes())
        });
        let hasher = self.argv.iter().fold(hasher, |hasher, argument| hasher.field(argument.as_bytes()));
        Some(Once { key: self.idempotency_key.clone()?, call: hasher.finish() })
    }
}

/// From when on a key counts.
pub(super) fn remembered_since(now: Timestamp) -> Timestamp {
    now.before(REMEMBERED)
}

/// The answer of the run that was started under this key, when there is one; waits for it while it runs.
///
/// # Errors
/// `CONFLICT` when that run was asked for something else; `CANCELLED` when the caller waits no more.
pub(super) async fn replay(
    world: &World,
    caller: &Caller,
    once: &Once,
    cancel: &Cancel,
) -> Result<Option<Answer>, Refusal> {
    // Who may not run anything learns nothing here; the refusal comes from where all others get theirs.
    if !caller.may(Scope::MemoryWrite) {
        return Ok(None);
    }
    let since = remembered_since(world.ports.clock.now());
    let executions = &world.ports.executions;
    match executions.earlier(caller.tenant(), caller.subject(), &once.key, since).await? {
        Some(earlier) => outcome(world, caller, once, &earlier, cancel).await,
        None => Ok(None),
    }
}

/// What came of an earlier run; none when it never got to the executor.
pub(super) async fn outcome(
    world: &World,
    caller: &Caller,
    once: &Once,
    earlier: &Earlier,
    cancel: &Cancel,
) -> Result<Option<Answer>, Refusal> {
    if earlier.call != once.call {
        let message = "The idempotency key was used for another call within 24 hours; use a new one.";
        return Err(Refusal::new(Code::Conflict, message).with("argument", "idempotency_key".into()));
    }
    loop {
        let record = world.ports.executions.get(caller.tenant(), &earlier.execution_id).await?;
        match record {
            Some(record) if record.status == Status::Running => {}
            Some(record) if record.status != Status::NotStarted => return Ok(Some(Answer::replayed(record))),
            _ => return Ok(None),
        }
        tokio::select! {
            biased;
            () = cancel.fired() => {
                let message = "The call was cancelled; the run that was started under its key goes on.";
                return Err(Refusal::new(Code::Cancelled, message));
            }
            () = tokio::time::sleep(INTERVAL) => {}
        }
    }
}
