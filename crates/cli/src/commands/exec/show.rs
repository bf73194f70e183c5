//! `belljar exec show`.

use std::process::ExitCode;

use anyhow::Result;
use belljar_core::envelope;
use belljar_core::execution::ExecutionRecord;
use belljar_core::refusal::Refusal;
use belljar_executor::{ExecutionId, Origin};
use serde_json::json;

use crate::app::App;
use crate::arguments::Global;
use crate::output;

/// Shows one execution.
pub(super) async fn run(global: &Global, app: &App, execution: &str) -> Result<ExitCode> {
    let id = ExecutionId::parse(execution).map_err(|error| Refusal::invalid_argument("execution", error))?;
    let record = app.belljar.execution(&app.caller, &id).await?;
    if global.json {
        output::json(&envelope::of("execution_record", json!(record)));
    } else {
        show(&record);
    }
    Ok(ExitCode::SUCCESS)
}

fn show(record: &ExecutionRecord) {
    let text = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
    let weaker = ["weaker", "missing"].map(|state| format!("{state}: {}", controls_in(record, state)));
    let rows = [
        ("execution", record.execution_id.to_string()),
        ("skill", format!("{} · {}", record.slug, output::safe(record.script_path.as_str()))),
        ("revision", record.revision_id.as_ref().map_or_else(|| not_stored(record), ToString::to_string)),
        (
            "status",
            record.error_kind.as_ref().map_or_else(
                || record.status.as_str().to_owned(),
                |kind| format!("{} ({kind})", record.status.as_str()),
            ),
        ),
        ("exit code", text(record.exit_code.map(|code| code.to_string()))),
        ("signal", text(record.signal.map(|signal| signal.to_string()))),
        ("limits hit", if record.limits_hit.is_empty() { "none".into() } else { record.limits_hit.join(", ") }),
        ("asked by", record.caller.clone()),
        ("run id", text(record.run_id.as_ref().map(|id| output::safe(id.as_str())))),
        ("recorded", record.created_at.to_string()),
        ("started", text(record.started_at.map(|time| time.to_string()))),
        ("finished", text(record.finished_at.map(|time| time.to_string()))),
        ("time-out", format!("{} s", record.timeout_seconds)),
        ("memory peak", text(record.memory_peak_bytes.map(output::size))),
        ("cpu time", text(record.cpu_time_ms.map(|ms| format!("{ms} ms")))),
        ("executor", format!("{} · {} · limits {}", record.executor, record.runtime, record.limits_class)),
        ("isolation", weaker.join(" · ")),
        ("pin", record.pin.to_string()),
        ("grant", record.grant_id.to_string()),
        ("audit", text(record.receipt.as_ref().map(|receipt| format!("{} ({})", receipt.sequence, receipt.hash)))),
        ("arguments", text(record.arguments.as_ref().map(ToString::to_string))),
        ("argv", if record.argv.is_empty() { "-".into() } else { output::safe(&record.argv.join(" ")) }),
    ];
    let rows: Vec<_> = rows.into_iter().map(|(name, value)| vec![name.to_owned(), value]).collect();
    output::text(&output::table(&rows));
    for (name, stream, cut) in
        [("stdout", &record.stdout, record.stdout_truncated), ("stderr", &record.stderr, record.stderr_truncated)]
    {
        if !stream.is_empty() {
            output::line(&format!("--- {name}{}", if cut { " (cut)" } else { "" }));
            stream.lines().for_each(|line| output::line(&output::safe(line)));
        }
    }
}

fn not_stored(record: &ExecutionRecord) -> String {
    match record.origin {
        Origin::Stored => "none: registered by a program",
        Origin::File => "none: a file skill",
    }
    .to_owned()
}

fn controls_in(record: &ExecutionRecord, state: &str) -> String {
    let controls = record.isolation["controls"].as_object();
    let names: Vec<_> = controls
        .into_iter()
        .flatten()
        .filter(|(_, finding)| finding["state"] == state)
        .map(|(name, _)| name.as_str())
        .collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
