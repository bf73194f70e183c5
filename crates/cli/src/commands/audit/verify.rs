//! `belljar audit verify`.

use std::process::ExitCode;

use anyhow::Result;
use belljar_core::audit::{Head, Verification};
use belljar_core::envelope;
use belljar_core::refusal::Refusal;
use serde_json::json;

use crate::app::App;
use crate::arguments::Global;
use crate::exit;
use crate::output;

/// Checks the whole trail; exit code 125 when something is wrong with it.
pub(super) async fn run(global: &Global, app: &App, expect: Option<&str>) -> Result<ExitCode> {
    let kept = expect.map(str::parse::<Head>).transpose();
    let kept = kept.map_err(|error| Refusal::invalid_argument("--expect", error))?;
    let verification = app.belljar.verify_audit(&app.caller, kept).await?;
    if global.json {
        let mut data = json!(verification);
        data["valid"] = verification.fault.is_none().into();
        output::json(&envelope::of("audit_verification", data));
    } else {
        tell(app.caller.tenant().as_str(), &verification);
    }
    Ok(if verification.fault.is_none() { ExitCode::SUCCESS } else { ExitCode::from(exit::REFUSED) })
}

fn tell(tenant: &str, verification: &Verification) {
    let Verification { entries, runs, outcomes, running, head, fault, .. } = verification;
    let running = if *running == 0 { String::new() } else { format!(" ({running} still running)") };
    let entries = if *entries == 1 { "1 entry".to_owned() } else { format!("{entries} entries") };
    let (runs, outcomes) = (output::count(*runs, "run"), output::count(*outcomes, "outcome"));
    let counts = format!("tenant {tenant} · {entries} · {runs}, {outcomes}{running}");
    match fault {
        None => output::line(&format!("{counts} · chain valid · head {head} · unsigned")),
        Some(fault) => {
            output::line(&format!("{counts} · CHAIN BROKEN · head {head} · unsigned"));
            let id = fault.audit_id.as_deref().unwrap_or("-");
            let kind = json!(fault.kind);
            let kind = kind.as_str().unwrap_or_default();
            output::note(&format!("belljar: {kind} at entry {} (id {id}): {}", fault.sequence, fault.detail));
        }
    }
}
