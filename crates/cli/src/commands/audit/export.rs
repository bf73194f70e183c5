//! `belljar audit export`: every entry as a line of JSON.

use std::process::ExitCode;

use anyhow::Result;
use belljar_core::audit::AuditEntry;
use serde_json::{Value, json};

use crate::app::App;
use crate::output;

/// Writes all entries.
pub(super) async fn run(app: &App) -> Result<ExitCode> {
    let mut after = 0;
    loop {
        let page = app.belljar.audit_page(&app.caller, after).await?;
        page.entries.iter().for_each(|entry| output::json(&form(entry)));
        match page.next {
            Some(next) => after = next,
            None => return Ok(ExitCode::SUCCESS),
        }
    }
}

/// An entry's JSON form. `before` and `after` are the strings that the hash covers.
pub(super) fn form(entry: &AuditEntry) -> Value {
    json!({
        "sequence": entry.sequence,
        "id": entry.id,
        "tenant": entry.tenant,
        "actor": entry.actor,
        "action": entry.action,
        "entity": entry.entity,
        "before": entry.before,
        "after": entry.after,
        "created_at": entry.created_at,
        "previous_hash": entry.previous_hash.lower_hex(),
        "hash": entry.hash.lower_hex(),
    })
}
