//! `belljar exec list`.

use std::process::ExitCode;

use anyhow::Result;
use belljar_core::envelope;
use serde_json::json;

use crate::app::App;
use crate::arguments::Global;
use crate::output;

/// Lists executions, newest first.
pub(super) async fn run(global: &Global, app: &App, limit: u32) -> Result<ExitCode> {
    let records = app.belljar.executions(&app.caller, limit).await?;
    if global.json {
        output::json(&envelope::of("executions", json!(records)));
        return Ok(ExitCode::SUCCESS);
    }
    let header = ["EXECUTION", "SKILL", "SCRIPT", "STATUS", "EXIT", "STARTED"].map(String::from).to_vec();
    let rows = records.iter().map(|record| {
        vec![
            record.execution_id.to_string(),
            record.slug.to_string(),
            output::safe(record.script_path.as_str()),
            record.status.as_str().to_owned(),
            record.exit_code.map_or_else(|| "-".to_owned(), |code| code.to_string()),
            record.created_at.to_string(),
        ]
    });
    output::text(&output::table(&std::iter::once(header).chain(rows).collect::<Vec<_>>()));
    Ok(ExitCode::SUCCESS)
}
