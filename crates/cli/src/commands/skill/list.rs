//! `belljar skill list`.

use std::process::ExitCode;

use anyhow::Result;
use belljar_core::envelope;
use belljar_core::service::ListedSkill;
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
    let header = ["SKILL", "FROM", "DESCRIPTION"].map(String::from).to_vec();
    let rows = skills.iter().map(|skill| {
        let from = match skill {
            ListedSkill::Stored(skill) if skill.archived => format!("{} (archived)", skill.owner),
            ListedSkill::Stored(skill) => skill.owner.to_string(),
            ListedSkill::Registered { .. } => "registered".to_owned(),
            ListedSkill::File(skill) => skill.folder.display().to_string(),
        };
        vec![skill.slug().to_string(), from, skill.description().to_owned()]
    });
    output::text(&output::table(&std::iter::once(header).chain(rows).collect::<Vec<_>>()));
    Ok(ExitCode::SUCCESS)
}
