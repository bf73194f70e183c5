//! `belljar grant list --pending`.

use std::process::ExitCode;

use anyhow::Result;
use belljar_core::envelope;
use serde_json::json;

use crate::app::App;
use crate::arguments::Global;
use crate::output;

/// Lists what was refused for want of a grant, by whom and how often, with the line that approves it.
pub(super) async fn run(global: &Global, app: &App) -> Result<ExitCode> {
    let pending = app.belljar.pending_grants(&app.caller).await?;
    if global.json {
        output::json(&envelope::of("pending_grants", json!(pending)));
        return Ok(ExitCode::SUCCESS);
    }
    let header = ["ID", "SKILL", "SCRIPT", "WHY", "ASKED BY", "TIMES", "LAST", "PIN"].map(String::from).to_vec();
    let rows = pending.iter().map(|pending| {
        vec![
            pending.id.to_string(),
            pending.slug.to_string(),
            pending.script.to_string(),
            pending.reason.clone(),
            pending.asked_by.clone(),
            pending.asked.to_string(),
            pending.last_at.to_string(),
            pending.pin.to_string(),
        ]
    });
    output::text(&output::table(&std::iter::once(header).chain(rows).collect::<Vec<_>>()));
    if !pending.is_empty() {
        output::note(
            "look at what it is with `belljar skill show`, then approve it with: belljar grant add --pending ID",
        );
    }
    Ok(ExitCode::SUCCESS)
}
