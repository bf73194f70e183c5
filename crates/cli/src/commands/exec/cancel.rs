//! `belljar exec cancel`.

use std::process::ExitCode;

use anyhow::Result;
use belljar_core::envelope;
use belljar_core::refusal::Refusal;
use belljar_executor::ExecutionId;
use serde_json::json;

use crate::app::App;
use crate::arguments::Global;
use crate::output;

/// Cancels a run and tells how it ended.
pub(super) async fn run(global: &Global, app: &App, execution: &str) -> Result<ExitCode> {
    let id = ExecutionId::parse(execution).map_err(|error| Refusal::invalid_argument("execution", error))?;
    let record = app.belljar.cancel(&app.caller, &id).await?;
    if global.json {
        output::json(&envelope::of("execution_record", json!(record)));
    } else {
        output::line(&format!("{id}: {}", record.status.as_str()));
    }
    Ok(ExitCode::SUCCESS)
}
