//! `belljar skill list`.

use std::process::ExitCode;

use anyhow::Result;
use belljar_core::envelope;
use serde_json::json;

use crate::app::App;
use crate::arguments::Global;
use crate::output;

/// Lists the skills that the local user sees.
pub(super) async fn run(global: &Global, app: &App) -> Result<ExitCode> {
    let skills = app.belljar.skills(&app.caller).await?;
    if global.json {
        output::json(&envelope::of("skills", json!(skills)));
        return Ok(ExitCode::SUCCESS);
    }
    let header = ["SKILL", "OWNER", "DESCRIPTION"].map(String::from).to_vec();
    let rows = skills.iter().map(|skill| {
        vec![skill.slug.to_string(), output::safe(&skill.owner.to_string()), output::safe(&skill.description)]
    });
    output::text(&output::table(&std::iter::once(header).chain(rows).collect::<Vec<_>>()));
    Ok(ExitCode::SUCCESS)
}
