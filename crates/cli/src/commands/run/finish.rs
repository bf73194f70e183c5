//! The run itself, and what a person or a program gets of it.

use std::process::ExitCode;

use anyhow::Result;
use belljar_core::envelope;
use belljar_core::execution::{ExecutionRecord, Status};
use belljar_core::refusal::Refusal;
use belljar_core::run::{Answer, Call};
use belljar_executor::State;

use super::interrupt;
use crate::app::App;
use crate::arguments::Global;
use crate::exit;
use crate::output;

/// Executes the call. An interrupt, a termination or a hang-up cancels it; the chain still reaches its
/// record. A second signal ends this process at once; the sandbox ends with it, and the next start closes
/// the run as lost.
pub(super) async fn execute(app: &App, call: Call) -> Result<Answer, Refusal> {
    let running = app.belljar.start(app.caller.clone(), call);
    interrupt::cancel_on_signal(&running.cancel());
    let answer = running.wait().await;
    interrupt::end_on_signal();
    answer
}

/// Passes on what the script wrote, or prints the envelope, and gives the exit code.
pub(super) fn tell(global: &Global, answer: &Answer, asked: Option<i64>) -> ExitCode {
    let record = &answer.record;
    if global.json {
        output::json(&envelope::execution(answer));
        return exit::of_execution(record);
    }
    output::text(&record.stdout);
    output::error_text(&record.stderr);
    if (!record.stderr.is_empty() && !record.stderr.ends_with('\n'))
        || (output::is_watched() && unfinished(&record.stdout))
    {
        output::error_text("\n");
    }
    cuts(record);
    if let Some(asked) = asked.filter(|asked| u64::try_from(*asked) != Ok(record.timeout_seconds)) {
        output::note(&format!("belljar: the time-out of {asked} s was clamped to {} s", record.timeout_seconds));
    }
    if let Some(sentence) = sentence(record) {
        output::note(&format!("belljar: {sentence}"));
    }
    if is_bare(record) {
        output::note(&format!("belljar: nothing isolated this script (executor {})", record.executor));
    }
    if !answer.recorded {
        output::note("belljar: the outcome could NOT be recorded; see the log");
    }
    if output::is_watched() {
        output::note(&summary(record));
    }
    exit::of_execution(record)
}

fn unfinished(text: &str) -> bool {
    !text.is_empty() && !text.ends_with('\n')
}

/// One notice per cut stream.
fn cuts(record: &ExecutionRecord) {
    for (name, stream, cut) in
        [("stdout", &record.stdout, record.stdout_truncated), ("stderr", &record.stderr, record.stderr_truncated)]
    {
        if cut {
            output::note(&format!("belljar: {name} was cut after {} bytes", stream.len()));
        }
    }
}

/// What is to be said of an ending that the exit code alone does not tell.
fn sentence(record: &ExecutionRecord) -> Option<String> {
    let id = &record.execution_id;
    match record.status {
        Status::Timeout => {
            Some(format!("the deadline of {} s ended the script (EXECUTION_TIMEOUT)", record.timeout_seconds))
        }
        Status::ResourceExhausted => Some(format!("limit hit: {} (RESOURCE_EXHAUSTED)", record.limits_hit.join(", "))),
        Status::Cancelled => Some("cancelled (CANCELLED)".to_owned()),
        Status::Fault => {
            let kind = record.fault_kind.as_deref().unwrap_or("Fault");
            Some(format!("the executor failed: {kind} (EXECUTOR_FAULT); the log has the cause of execution {id}"))
        }
        Status::Unavailable => Some(
            "the isolation was lost before the script started (SANDBOX_UNAVAILABLE); run `belljar doctor`".to_owned(),
        ),
        Status::Failed => record.signal.map(|signal| format!("signal {signal} ended the script")),
        _ => None,
    }
}

/// Whether the report says of every control that it is missing.
fn is_bare(record: &ExecutionRecord) -> bool {
    let controls = record.isolation["controls"].as_object();
    controls.is_some_and(|controls| {
        !controls.is_empty() && controls.values().all(|finding| finding["state"] == State::Missing.as_str())
    })
}

fn summary(record: &ExecutionRecord) -> String {
    let mut parts = Vec::new();
    if let (Some(started), Some(finished)) = (record.started_at, record.finished_at) {
        let ms = finished.since(started).as_millis();
        parts.push(format!("{}.{:02} s", ms / 1000, ms % 1000 / 10));
    }
    parts.extend(record.memory_peak_bytes.map(|bytes| format!("{} peak", output::size(bytes))));
    let audit = record.receipt.as_ref().map_or_else(String::new, |receipt| format!(" (audit {})", receipt.sequence));
    parts.push(format!("recorded as {}{audit}", record.execution_id));
    parts.join(" · ")
}
