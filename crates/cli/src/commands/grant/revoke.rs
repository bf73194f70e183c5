//! `belljar grant revoke`.

use std::process::ExitCode;

use anyhow::Result;
use belljar_core::envelope;
use belljar_core::execution::ExecutionRecord;
use belljar_core::ids::GrantId;
use belljar_core::refusal::Refusal;
use belljar_core::run::SkillSelector;
use belljar_core::service::Revocation;
use belljar_executor::SkillName;
use serde_json::json;

use super::describe;
use crate::app::App;
use crate::arguments::Global;
use crate::output;

/// Revokes one grant by its id, or those of a skill.
pub(super) async fn run(
    global: &Global,
    app: &App,
    which: &str,
    script: Option<String>,
    stop: bool,
) -> Result<ExitCode> {
    let by_id = app.belljar.grants(&app.caller).await?.into_iter().any(|(grant, _)| grant.id.as_str() == which);
    let revocation = if by_id && script.is_none() {
        Revocation::Id(GrantId::new(which))
    } else {
        let slug = SkillName::parse(which).map_err(|error| Refusal::invalid_argument("grant", error))?;
        Revocation::Target(SkillSelector::Slug(slug), script)
    };
    let revoked = app.belljar.revoke(&app.caller, revocation).await?;
    let stopped = if stop { app.belljar.stop_runs_under(&app.caller, &revoked).await? } else { Vec::new() };
    if global.json {
        let mut form = envelope::of("revoked", json!(revoked));
        if stop {
            let ended =
                |record: &ExecutionRecord| json!({ "execution_id": record.execution_id, "status": record.status });
            form["stopped"] = stopped.iter().map(ended).collect();
        }
        output::json(&form);
    } else {
        let skill = if by_id { "" } else { which };
        revoked.iter().for_each(|grant| output::line(&format!("revoked {}", describe(grant, skill))));
        for record in stopped {
            output::line(&format!("ended   {} · {}", record.execution_id, record.status.as_str()));
        }
    }
    Ok(ExitCode::SUCCESS)
}
