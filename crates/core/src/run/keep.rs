//! The record: every run that was recorded gets exactly one outcome, whatever its ending.

use belljar_executor::{Ending, LimitHit, Outcome};
use serde_json::{Value, json};

use super::World;
use super::deliver::{Ended, Finished};
use crate::audit::{Action, AuditDraft};
use crate::code::{Code, Reason};
use crate::execution::{ExecutionRecord, Status};
use crate::ids::AuditId;
use crate::ports::Stored;
use crate::refusal::Refusal;

/// How deep `output_data` may be nested.
const OUTPUT_DEPTH: usize = 128;

/// A run that is over and kept.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Its record.
    pub record: ExecutionRecord,
    /// Whether the record and the outcome entry were written.
    pub recorded: bool,
    /// Standard output as JSON, when the whole of it is one object or array.
    pub output_data: Option<Value>,
    /// Whether this is the answer of an earlier run under the same key.
    pub replayed: bool,
}

impl Answer {
    /// The answer of a run that ended before.
    pub(super) fn replayed(record: ExecutionRecord) -> Self {
        let output_data = whole_output(&record);
        Self { record, recorded: true, output_data, replayed: true }
    }
}

fn whole_output(record: &ExecutionRecord) -> Option<Value> {
    if record.stdout_truncated { None } else { output_data(&record.stdout) }
}

/// Writes the execution record and the `script.outcome` entry.
///
/// # Errors
/// The refusal of a run that never got to the executor; it is kept all the same.
pub async fn keep(world: &World, finished: Finished) -> Result<Answer, Refusal> {
    let Finished { mut record, ended, started_at } = finished;
    record.started_at = started_at;
    record.finished_at = Some(world.ports.clock.now());
    let refusal = fill(&mut record, ended);
    let duration = record.started_at.zip(record.finished_at).map(|(started, finished)| finished.since(started));
    let span = tracing::Span::current();
    if let Some(duration) = duration {
        span.record("duration_ms", u64::try_from(duration.as_millis()).unwrap_or(u64::MAX));
    }
    span.record("status", record.status.as_str());
    if let Some(code) = record.exit_code {
        span.record("exit_code", code);
    }
    // For tests that end the process between the run and its record.
    tracing::trace!(target: "belljar::point", point = "before_outcome");
    let recorded = match close(world, &record, &record.caller).await {
        Ok(true) => true,
        Ok(false) => {
            world.meter.audit_swallowed();
            tracing::error!(execution_id = %record.execution_id, "another process has closed this run as lost");
            false
        }
        Err(error) => {
            world.meter.audit_swallowed();
            tracing::error!(%error, execution_id = %record.execution_id, "an outcome could not be recorded");
            false
        }
    };
    world.health.audit_written(recorded);
    let truncated = u64::from(record.stdout_truncated) + u64::from(record.stderr_truncated);
    world.meter.ended(record.status, truncated, duration.unwrap_or_default());
    if let Some(refusal) = refusal {
        return Err(refusal.with("execution_id", json!(record.execution_id)).with("recorded", json!(recorded)));
    }
    let output_data = whole_output(&record);
    Ok(Answer { record, recorded, output_data, replayed: false })
}

/// Fills in how it ended; answers the refusal of a run that never started.
fn fill(record: &mut ExecutionRecord, ended: Ended) -> Option<Refusal> {
    let (status, code) = match ended {
        Ended::Outcome(outcome) => fill_outcome(record, &outcome),
        Ended::Cancelled { abandoned } => {
            record.abandoned = abandoned;
            (Status::Cancelled, Some(Code::Cancelled))
        }
        Ended::Overran => {
            record.abandoned = true;
            (Status::Timeout, Some(Code::ExecutionTimeout))
        }
        Ended::Fault(kind) => {
            record.fault_kind = Some(kind.to_owned());
            (Status::Fault, Some(Code::ExecutorFault))
        }
        Ended::Unavailable => (Status::Unavailable, Some(Code::SandboxUnavailable)),
        Ended::NotStarted(code) => {
            record.status = Status::NotStarted;
            record.error_kind = Some(code.as_str().to_owned());
            return Some(not_started(code));
        }
    };
    record.status = status;
    record.error_kind = code.map(|code| code.as_str().to_owned());
    None
}

fn not_started(code: Code) -> Refusal {
    match code {
        Code::ScriptDenied => Refusal::denied(Reason::GrantMissing),
        Code::CapacityExceeded => Refusal::new(code, "No slot became free in time; nothing was started.")
            .retry_after(std::time::Duration::from_secs(1)),
        Code::Cancelled => Refusal::new(code, "The call was cancelled while it waited for a slot."),
        _ => Refusal::new(code, "The run could not be started."),
    }
}

fn fill_outcome(record: &mut ExecutionRecord, outcome: &Outcome) -> (Status, Option<Code>) {
    record.stdout.clone_from(&outcome.stdout().text);
    record.stderr.clone_from(&outcome.stderr().text);
    record.stdout_truncated = outcome.stdout().truncated;
    record.stderr_truncated = outcome.stderr().truncated;
    record.set_limits_hit(outcome.limits_hit());
    if let Some(usage) = outcome.usage() {
        record.memory_peak_bytes = Some(usage.memory_peak_bytes);
        record.cpu_time_ms = Some(u64::try_from(usage.cpu_time.as_millis()).unwrap_or(u64::MAX));
        record.usage_source = Some(usage.source.to_owned());
    }
    if let Some(isolation) = outcome.isolation() {
        record.isolation = json!(isolation);
    }
    match outcome.ending() {
        Ending::TimedOut => (Status::Timeout, Some(Code::ExecutionTimeout)),
        Ending::Exited { code, signal } => {
            record.exit_code = Some(code);
            record.signal = signal;
            // A kill by the memory limit counts even when the main process hides it and exits 0.
            let exhausted = outcome.limits_hit().iter().any(|limit| *limit == LimitHit::Memory || code != 0);
            match (exhausted, code) {
                (true, _) => (Status::ResourceExhausted, Some(Code::ResourceExhausted)),
                (false, 0) => (Status::Success, None),
                (false, _) => (Status::Failed, Some(Code::ScriptExecutionError)),
            }
        }
    }
}

/// Closes a run: its record and its outcome entry, in one transaction.
async fn close(world: &World, record: &ExecutionRecord, actor: &str) -> Stored<bool> {
    let facts = json!({
        "execution_id": record.execution_id,
        "status": record.status,
        "error_kind": record.error_kind,
        "fault_kind": record.fault_kind,
        "exit_code": record.exit_code,
        "signal": record.signal,
        "limits_hit": record.limits_hit,
        "abandoned": record.abandoned,
        "stdout_truncated": record.stdout_truncated,
        "stderr_truncated": record.stderr_truncated,
        "started_at": record.started_at,
        "finished_at": record.finished_at,
    });
    let id = AuditId::new(&world.ports.ids.new_id());
    let entity = format!("{}/{}", record.slug, record.script_path);
    let now = world.ports.clock.now();
    let draft =
        AuditDraft::new(id, record.tenant.clone(), actor, Action::ScriptOutcome, entity, now).with_after(&facts);
    world.ports.executions.close(record.clone(), draft).await
}

/// Closes a run whose process died.
pub(crate) async fn close_orphan(world: &World, mut record: ExecutionRecord) -> Stored<bool> {
    record.status = Status::Lost;
    record.error_kind = Some(Code::Internal.as_str().to_owned());
    record.finished_at = Some(world.ports.clock.now());
    close(world, &record, "belljar").await
}

/// A text as JSON when the whole of it is one object or array, not nested deeper than is safe.
fn output_data(text: &str) -> Option<Value> {
    let text = text.trim();
    if !text.starts_with(['{', '[']) || nesting(text) > OUTPUT_DEPTH {
        return None;
    }
    // The depth was measured above, so the parser's own lower bound can go.
    let mut reader = serde_json::Deserializer::from_str(text);
    reader.disable_recursion_limit();
    let value = serde::Deserialize::deserialize(&mut reader).ok()?;
    reader.end().ok().map(|()| value)
}

/// How deep brackets are nested outside strings, found without recursion.
fn nesting(text: &str) -> usize {
    let (mut depth, mut deepest, mut in_string, mut escaped) = (0_usize, 0, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_data_when_the_whole_of_it_is_one_object_or_array() {
        assert_eq!(output_data("{\"a\":1}\n"), Some(json!({"a": 1})));
        assert_eq!(output_data(" [1] "), Some(json!([1])));
        for text in ["", "1", "\"a\"", "{} {}", "x {}", "{\"a\":1", "null"] {
            assert_eq!(output_data(text), None, "{text}");
        }
    }

    #[test]
    fn deep_output_is_text_and_brackets_in_strings_do_not_count() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(output_data(&nested(128)).is_some());
        assert!(output_data(&nested(129)).is_none());
        assert!(output_data(&nested(100_000)).is_none());
        assert!(output_data(&format!("[\"{}\\\"\"]", "[".repeat(500))).is_some());
    }
}
