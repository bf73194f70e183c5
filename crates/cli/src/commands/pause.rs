//! `belljar pause` and `belljar resume`.

use std::process::ExitCode;

use anyhow::Result;
use belljar_core::envelope;
use serde_json::json;

use crate::app::{self, App};
use crate::arguments::Global;
use crate::output;

/// Pauses or resumes.
pub(super) async fn run(global: &Global, all: bool, paused: bool) -> Result<ExitCode> {
    app::with_nothing_running(global, async |app| set(global, app, all, paused).await).await
}

async fn set(global: &Global, app: &App, all: bool, paused: bool) -> Result<ExitCode> {
    let changed = app.belljar.set_paused(&app.caller, all, paused).await?;
    if global.json {
        output::json(&envelope::of("pause", json!({ "paused": paused, "all": all, "changed": changed })));
    } else {
        let whom = if all { "all tenants" } else { app.caller.tenant().as_str() };
        let state = if paused { "paused" } else { "resumed" };
        output::line(&format!("{whom}: {state}{}", if changed { "" } else { " (was so already)" }));
    }
    Ok(ExitCode::SUCCESS)
}
