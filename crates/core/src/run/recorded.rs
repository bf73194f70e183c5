//! The audit step: `script.run` is durable before anything starts.

use belljar_executor::{Digest, ExecutionId, ExecutionRequest};
use serde_json::{Value, json};

use super::{Ready, World};
use crate::audit::{Action, AuditDraft, redact_arguments, redact_argv};
use crate::code::Code;
use crate::execution::{ExecutionRecord, Status};
use crate::ids::AuditId;
use crate::once::{Earlier, Once, Opened};
use crate::refusal::Refusal;

/// A run that is on the record. Made by [`record`] alone.
#[derive(Debug)]
pub struct Recorded {
    pub(super) record: ExecutionRecord,
    pub(super) request: ExecutionRequest,
}

/// What recording came to.
#[derive(Debug)]
pub enum Recording {
    /// The run is on the record.
    Recorded(Box<Recorded>),
    /// Another run was recorded under the same key a moment before; nothing was written.
    Earlier(Earlier, Once),
}

/// Appends the `script.run` entry and opens the execution record, in one transaction.
///
/// # Errors
/// `AUDIT_UNAVAILABLE` when it cannot be written: the run is refused and the executor not called.
pub async fn record(world: &World, ready: Ready, once: Option<Once>) -> Result<Recording, Refusal> {
    let execution_id = ExecutionId::parse(&world.ports.ids.new_id())
        .map_err(|_| Refusal::new(Code::Internal, "An id could not be made."))?;
    let Ready { cleared, .. } = &ready;
    let request = cleared.runnable.request(world, &cleared.resolved, execution_id);
    let mut record = ExecutionRecord { once, ..opening(world, &ready, &request) };
    let draft = draft(world, &ready, &request, &record);
    match world.ports.executions.open(record.clone(), draft).await {
        Ok(opened) => {
            world.health.audit_written(true);
            Ok(match (opened, record.once.take()) {
                (Opened::Earlier(earlier), Some(once)) => Recording::Earlier(earlier, once),
                (Opened::Now(receipt), once) => {
                    (record.receipt, record.once) = (Some(receipt), once);
                    Recording::Recorded(Box::new(Recorded { record, request }))
                }
                (Opened::Earlier(_), None) => {
                    tracing::error!("the store found an earlier run for a call without a key");
                    return Err(Refusal::new(Code::Internal, "The run could not be recorded; see the log."));
                }
            })
        }
        Err(error) => {
            world.health.audit_written(false);
            world.meter.audit_refused();
            tracing::error!(%error, cause = ?std::error::Error::source(&error), "a run was refused: its audit entry could not be written");
            Err(Refusal::new(
                Code::AuditUnavailable,
                "The run's audit entry could not be written, so nothing was started.",
            ))
        }
    }
}

fn opening(world: &World, ready: &Ready, request: &ExecutionRequest) -> ExecutionRecord {
    let cleared = &ready.cleared;
    let resolved = &cleared.resolved;
    let arguments = resolved.arguments_json.as_deref().and_then(|text| serde_json::from_str::<Value>(text).ok());
    ExecutionRecord {
        execution_id: request.parts().execution_id.clone(),
        tenant: resolved.edition.tenant.clone(),
        caller: resolved.caller.subject().to_owned(),
        owner: world.ports.executions.owner().clone(),
        skill_id: resolved.edition.revision().map(|revision| revision.skill_id.clone()),
        slug: resolved.edition.slug().clone(),
        revision_id: resolved.edition.revision().map(|revision| revision.id.clone()),
        origin: resolved.edition.origin(),
        script_path: resolved.path.clone(),
        runtime: cleared.runnable.interpreter.to_string(),
        executor: world.executor.name().to_owned(),
        pin: cleared.pin,
        grant_id: cleared.grant.id.clone(),
        run_id: resolved.run_id.clone(),
        once: None,
        arguments: arguments.as_ref().map(redact_arguments),
        argv: redact_argv(&resolved.argv),
        status: Status::Running,
        error_kind: None,
        fault_kind: None,
        exit_code: None,
        signal: None,
        stdout: String::new(),
        stderr: String::new(),
        stdout_truncated: false,
        stderr_truncated: false,
        limits_hit: Vec::new(),
        memory_peak_bytes: None,
        cpu_time_ms: None,
        usage_source: None,
        timeout_seconds: resolved.timeout.as_secs(),
        limits_class: request.parts().limits_class.to_string(),
        abandoned: false,
        created_at: world.ports.clock.now(),
        started_at: None,
        finished_at: None,
        isolation: json!(&*ready.isolation),
        receipt: None,
    }
}

fn draft(world: &World, ready: &Ready, request: &ExecutionRequest, record: &ExecutionRecord) -> AuditDraft {
    let resolved = &ready.cleared.resolved;
    let facts = json!({
        "execution_id": record.execution_id,
        "owner": record.owner,
        "skill_id": record.skill_id,
        "revision_id": record.revision_id,
        "revision_digest": resolved.edition.manifest_digest(),
        "origin": record.origin,
        "source_path": resolved.edition.source_path(&resolved.path).map(|path| path.display().to_string()),
        "script_path": record.script_path,
        "pin": record.pin,
        "content_sha256": request.content_sha256(),
        "grant_id": record.grant_id,
        "interpreter": record.runtime,
        "executor": record.executor,
        "isolation": record.isolation,
        "limits_class": record.limits_class,
        "timeout_seconds": record.timeout_seconds,
        "run_id": record.run_id,
        "arguments_sha256": resolved.arguments_json.as_deref().map(|text| Digest::of(text.as_bytes())),
        "argv_sha256": (!resolved.argv.is_empty()).then(|| argv_digest(&resolved.argv)),
        "arguments": record.arguments,
        "argv": record.argv,
    });
    let entity = format!("{}/{}", record.slug, record.script_path);
    let id = AuditId::new(&world.ports.ids.new_id());
    AuditDraft::new(id, record.tenant.clone(), record.caller.as_str(), Action::ScriptRun, entity, record.created_at)
        .with_after(&facts)
}

fn argv_digest(argv: &[String]) -> Digest {
    let hasher = belljar_executor::FieldHasher::new("belljar.argv.v1");
    argv.iter().fold(hasher, |hasher, argument| hasher.field(argument.as_bytes())).finish()
}
