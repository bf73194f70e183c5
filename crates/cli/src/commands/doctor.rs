//! `belljar doctor`: what this host's sandbox enforces, how that is known, and how to mend it.

use std::process::ExitCode;

use anyhow::Result;
use belljar_core::envelope;
use belljar_executor::{Control, Report, Shortfall, Unavailable};
use serde_json::{Value, json};

use crate::app;
use crate::arguments::{Doctor, Global};
use crate::config;
use crate::exit;
use crate::output;

/// Probes the sandbox and compares what it found with what is required.
pub(super) async fn run(global: &Global, arguments: Doctor) -> Result<ExitCode> {
    let loaded = config::load(global.config.as_deref())?;
    let name = arguments.executor.unwrap_or(loaded.config.execution.executor);
    let executor = app::choose(name, &loaded.config).executor();
    let requirement = loaded.config.draft(name).require;
    let probed = executor.probe().await;
    let shortfalls = probed.as_ref().map(|report| requirement.shortfalls(report)).unwrap_or_default();
    let store = match app::open_store(global).await {
        Ok(store) => {
            store.close().await;
            None
        }
        Err(error) => Some(error.to_string()),
    };
    let healthy = probed.is_ok() && shortfalls.is_empty() && store.is_none();
    if global.json {
        output::json(&form(executor.name(), &probed, &shortfalls, store.as_deref(), healthy));
    } else {
        match &probed {
            Ok(report) => show(executor.name(), report),
            Err(unavailable) => show_unavailable(executor.name(), unavailable),
        }
        show_verdict(probed.as_ref().ok(), &shortfalls, store.as_deref());
    }
    Ok(if healthy { ExitCode::SUCCESS } else { ExitCode::from(exit::REFUSED) })
}

fn form(
    executor: &str,
    probed: &Result<Report, Unavailable>,
    shortfalls: &[Shortfall],
    store: Option<&str>,
    healthy: bool,
) -> Value {
    let (report, unavailable) = match probed {
        Ok(report) => (Some(report), None),
        Err(unavailable) => (None, Some(unavailable)),
    };
    let runtimes = report.and_then(|report| report.runtimes.as_ref());
    envelope::of(
        "doctor",
        json!({
            "executor": executor,
            "healthy": healthy,
            "report": report,
            "runtimes": runtimes,
            "unavailable": unavailable,
            "shortfalls": shortfalls,
            "store_error": store,
        }),
    )
}

fn show(executor: &str, report: &Report) {
    let driver = report.driver.as_deref().unwrap_or(executor);
    output::line(&format!("sandbox   {driver}, probed just now\n"));
    let header = ["  control", "state", "how known", "mend"].map(String::from).to_vec();
    let rows = Control::ALL.iter().map(|control| {
        let finding = report.controls.get(control);
        vec![
            format!("  {control}"),
            report.state(*control).as_str().to_owned(),
            finding.map_or_else(String::new, |finding| finding.detail.clone()),
            finding.and_then(|finding| finding.remedy.clone()).unwrap_or_default(),
        ]
    });
    output::text(&output::table(&std::iter::once(header).chain(rows).collect::<Vec<_>>()));
    for (name, path) in report.runtimes.iter().flatten() {
        output::line(&format!("runtime   {name}: {path}"));
    }
}

fn show_unavailable(executor: &str, unavailable: &Unavailable) {
    output::line(&format!("sandbox   {executor}: UNAVAILABLE ({})", unavailable.cause.as_str()));
    output::line(&format!("  what    {}", unavailable.message));
    output::line(&format!("  mend    {}", unavailable.remedy));
}

fn show_verdict(report: Option<&Report>, shortfalls: &[Shortfall], store: Option<&str>) {
    let weaker = report.map_or(0, |report| {
        Control::ALL.iter().filter(|control| report.state(**control) != belljar_executor::State::Enforced).count()
    });
    if let Some(error) = store {
        output::line(&format!("store     {error}"));
    }
    for shortfall in shortfalls {
        output::line(&format!("below     {shortfall}"));
    }
    let verdict = match report {
        None => "no script can run here",
        Some(report) if shortfalls.is_empty() && !report.isolates() => {
            output::line("verdict   NOTHING ISOLATES: scripts run as plain processes of this host");
            return;
        }
        Some(_) if shortfalls.is_empty() => "meets isolation.require",
        Some(_) => "below isolation.require: no script can run here",
    };
    let more =
        if report.is_some() && weaker > 0 { format!(" · {weaker} controls could be stronger") } else { String::new() };
    output::line(&format!("verdict   {verdict}{more}"));
}
