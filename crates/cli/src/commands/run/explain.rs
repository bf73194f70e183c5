//! `--explain`: mounts, environment, limits, command line and gates, without running.

use std::process::ExitCode;

use anyhow::Result;
use belljar_core::envelope;
use belljar_core::run::unavailable_refusal;
use belljar_core::service::Plan;
use belljar_executor::{ExecutorError, Unavailable};
use belljar_executors::Plan as SandboxPlan;
use serde_json::json;

use crate::app::{App, Chosen};
use crate::arguments::Global;
use crate::output;

/// Shows what the script would see.
pub(super) async fn run(global: &Global, app: &App, plan: &Plan) -> Result<ExitCode> {
    let sandbox = match (&app.executor, &plan.request) {
        (Some(Chosen::Bubblewrap(executor)), Some(request)) => Some(executor.explain(request).await.map_err(describe)?),
        _ => None,
    };
    if global.json {
        let data = json!({
            "pin": plan.pin,
            "revision_id": plan.edition.revision().map(|revision| &revision.id),
            "revision": plan.edition.revision().map(|revision| revision.number),
            "closed_gate": plan.closed,
            "executor": app.belljar.executor_name(),
            "sandbox": sandbox,
        });
        output::json(&envelope::of("explanation", data));
        return Ok(ExitCode::SUCCESS);
    }
    match plan.closed {
        None => output::line("gates     all open: it would run"),
        Some(reason) => output::line(&format!("gates     closed: {reason}. {}", reason.sentence())),
    }
    if let Some(pin) = plan.pin {
        output::line(&format!("pin       {pin} ({})", super::source(&plan.edition)));
    }
    match sandbox {
        Some(sandbox) => show(&sandbox),
        None if plan.request.is_some() => {
            output::line(&format!("executor  {}: it does not tell what a script sees", app.belljar.executor_name()));
        }
        None => {}
    }
    Ok(ExitCode::SUCCESS)
}

/// A host without the sandbox is told as a run would tell it.
fn describe(error: ExecutorError) -> anyhow::Error {
    let unavailable = std::error::Error::source(&error).and_then(|source| source.downcast_ref::<Unavailable>());
    match unavailable {
        Some(unavailable) => unavailable_refusal(unavailable).into(),
        None => anyhow::Error::new(error).context("the sandbox cannot be described"),
    }
}

fn show(plan: &SandboxPlan) {
    output::line(&format!("driver    {}", plan.driver));
    output::line(&format!("runs      {}", output::safe(&plan.argv.join(" "))));
    output::line(&format!("in        {}", plan.folder));
    output::line("sees");
    let mounts = plan.mounts.iter().map(|mount| {
        let size = mount.bytes.map_or_else(String::new, output::size);
        let inodes = mount.inodes.map_or_else(String::new, |inodes| format!("{inodes} inodes"));
        let rights = if mount.writable { "writable" } else { "read-only" };
        vec![format!("  {}", mount.path), rights.to_owned(), size, inodes, mount.holds.to_owned()]
    });
    output::text(&output::table(&mounts.collect::<Vec<_>>()));
    output::line("environment");
    for (name, value) in &plan.environment {
        output::line(&format!("  {name}={}", output::safe(value)));
    }
    output::line("limits");
    let limits = json!(plan.limits);
    for (name, value) in limits.as_object().into_iter().flatten() {
        output::line(&format!("  {name} {value}"));
    }
    output::line(&format!("  timeout_seconds {}", plan.timeout_seconds));
    output::line(&format!("  max_output_bytes {}", plan.max_output_bytes));
}
