//! `belljar grant list`.

use std::process::ExitCode;

use anyhow::Result;
use belljar_core::envelope;
use belljar_core::grant::Grant;
use belljar_core::ports::Clock;
use belljar_core::time::Timestamp;
use belljar_store::SystemClock;
use serde_json::json;

use crate::app::App;
use crate::arguments::Global;
use crate::output;

/// Lists all grants, newest first.
pub(super) async fn run(global: &Global, app: &App) -> Result<ExitCode> {
    let grants = app.belljar.grants(&app.caller).await?;
    let now = SystemClock.now();
    if global.json {
        let listed: Vec<_> = grants
            .iter()
            .map(|(grant, slug)| {
                let mut form = json!(grant);
                form["slug"] = json!(slug);
                form["state"] = state(grant, now).into();
                form
            })
            .collect();
        output::json(&envelope::of("grants", json!(listed)));
        return Ok(ExitCode::SUCCESS);
    }
    let header = ["GRANT", "SKILL", "SCRIPT", "STATE", "BY", "EXPIRES", "PIN"].map(String::from).to_vec();
    let rows = grants.iter().map(|(grant, slug)| {
        vec![
            grant.id.to_string(),
            slug.clone().unwrap_or_else(|| "-".to_owned()),
            grant.target.as_str().to_owned(),
            state(grant, now).to_owned(),
            grant.granted_by.clone(),
            grant.expires_at.map_or_else(|| "never".to_owned(), |time| time.to_string()),
            grant.pin.map_or_else(|| "-".to_owned(), |pin| pin.to_string()),
        ]
    });
    output::text(&output::table(&std::iter::once(header).chain(rows).collect::<Vec<_>>()));
    Ok(ExitCode::SUCCESS)
}

fn state(grant: &Grant, now: Timestamp) -> &'static str {
    match (grant.is_active(now), grant.revoked_at) {
        (true, _) => "active",
        (false, Some(_)) => "revoked",
        (false, None) => "expired",
    }
}
