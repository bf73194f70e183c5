//! `belljar audit`.

mod export;
mod list;
mod verify;

use std::process::ExitCode;

use anyhow::Result;
use belljar_core::envelope;
use serde_json::json;

use crate::app::{self, App};
use crate::arguments::{Audit, Global};
use crate::output;

/// Runs one of its commands.
pub(super) async fn run(global: &Global, command: Audit) -> Result<ExitCode> {
    app::with_nothing_running(global, async |app| match command {
        Audit::List { after } => list::run(global, app, after).await,
        Audit::Verify { expect } => verify::run(global, app, expect.as_deref()).await,
        Audit::Head => head(global, app).await,
        Audit::Export => export::run(app).await,
    })
    .await
}

async fn head(global: &Global, app: &App) -> Result<ExitCode> {
    let head = app.belljar.audit_head(&app.caller).await?;
    if global.json {
        output::json(&envelope::of("audit_head", json!({ "sequence": head.sequence, "hash": head.hash.lower_hex() })));
    } else {
        output::line(&head.to_string());
    }
    Ok(ExitCode::SUCCESS)
}
