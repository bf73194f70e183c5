//! `belljar audit list`.

use std::process::ExitCode;

use anyhow::Result;
use belljar_core::audit::AuditEntry;
use belljar_core::envelope;
use serde_json::{Value, json};

use super::export::form;
use crate::app::App;
use crate::arguments::Global;
use crate::output;

/// Lists a page of entries.
pub(super) async fn run(global: &Global, app: &App, after: u64) -> Result<ExitCode> {
    let page = app.belljar.audit_page(&app.caller, after).await?;
    if global.json {
        let entries: Vec<_> = page.entries.iter().map(form).collect();
        output::json(&envelope::of("audit", json!({ "entries": entries, "next": page.next })));
        return Ok(ExitCode::SUCCESS);
    }
    let header = ["SEQ", "TIME", "ACTION", "ENTITY", "BY", "FACT"].map(String::from).to_vec();
    let rows = page.entries.iter().map(|entry| {
        vec![
            entry.sequence.to_string(),
            entry.created_at.to_string(),
            entry.action.to_string(),
            output::safe(&entry.entity),
            output::safe(&entry.actor),
            fact(entry),
        ]
    });
    output::text(&output::table(&std::iter::once(header).chain(rows).collect::<Vec<_>>()));
    if let Some(next) = page.next {
        output::note(&format!("more: belljar audit list --after {next}"));
    }
    Ok(ExitCode::SUCCESS)
}

/// The one fact of an entry that a person looks for first.
fn fact(entry: &AuditEntry) -> String {
    let facts = entry.facts();
    let text = |value: &Value| value.as_str().map(output::safe);
    ["status", "reason", "pin", "revision_id"]
        .iter()
        .find_map(|key| text(&facts[*key]))
        .or_else(|| text(&facts["grant"]["pin"]))
        .unwrap_or_default()
}
