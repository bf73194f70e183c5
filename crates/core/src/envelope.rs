//! The one shape of every answer: `{kind, data}`, or `{kind: "error", error: {code, message, retryable, details}}`.

use serde_json::{Map, Value, json};

use crate::refusal::Refusal;
use crate::run::Answer;

/// An answer of this kind.
#[must_use]
pub fn of(kind: &str, data: Value) -> Value {
    let mut envelope = Map::new();
    envelope.insert("kind".into(), kind.into());
    envelope.insert("data".into(), data);
    Value::Object(envelope)
}

/// A refusal.
#[must_use]
pub fn error(refusal: &Refusal) -> Value {
    let mut error = json!({
        "code": refusal.code(),
        "message": refusal.message(),
        "retryable": refusal.code().is_retryable(),
        "details": refusal.details(),
    });
    if let Some(delay) = refusal.retry_delay() {
        error["retry_after_seconds"] = delay.as_secs().into();
    }
    json!({ "kind": "error", "error": error })
}

/// A run that reached the executor. A field that is not known is absent, except `exit_code`, which is
/// null for a time-out.
#[must_use]
pub fn execution(answer: &Answer) -> Value {
    let record = &answer.record;
    let duration_ms = match (record.started_at, record.finished_at) {
        (Some(started), Some(finished)) => Some(finished.since(started).as_millis()),
        _ => None,
    };
    let fields = [
        ("execution_id", json!(record.execution_id)),
        ("skill_id", json!(record.skill_id)),
        ("slug", json!(record.slug)),
        ("revision_id", json!(record.revision_id)),
        ("script_path", json!(record.script_path)),
        ("runtime", json!(record.runtime)),
        ("executor", json!(record.executor)),
        ("status", json!(record.status)),
        ("exit_code", json!(record.exit_code)),
        ("signal", json!(record.signal)),
        ("stdout", json!(record.stdout)),
        ("stderr", json!(record.stderr)),
        ("stdout_truncated", json!(record.stdout_truncated)),
        ("stderr_truncated", json!(record.stderr_truncated)),
        ("output_data", json!(answer.output_data)),
        ("duration_ms", json!(duration_ms.map(|ms| u64::try_from(ms).unwrap_or(u64::MAX)))),
        ("memory_peak_bytes", json!(record.memory_peak_bytes)),
        ("cpu_time_ms", json!(record.cpu_time_ms)),
        ("usage_source", json!(record.usage_source)),
        ("created_at", json!(record.created_at)),
        ("started_at", json!(record.started_at)),
        ("finished_at", json!(record.finished_at)),
        ("timeout_seconds", json!(record.timeout_seconds)),
        ("limits_class", json!(record.limits_class)),
        ("limits_hit", json!(record.limits_hit)),
        ("error_kind", json!(record.error_kind)),
        ("fault_kind", json!(record.fault_kind)),
        ("abandoned", json!(record.abandoned)),
        ("run_id", json!(record.run_id)),
        ("replayed", json!(answer.replayed)),
        ("pin", json!(record.pin)),
        ("grant_id", json!(record.grant_id)),
        ("isolation", record.isolation.clone()),
        ("receipt", json!(record.receipt)),
        ("recorded", json!(answer.recorded)),
    ];
    let known = |(key, value): &(&str, Value)| !value.is_null() || *key == "exit_code";
    let data: Map<_, _> = fields.into_iter().filter(known).map(|(key, value)| (key.to_owned(), value)).collect();
    of("execution", Value::Object(data))
}
