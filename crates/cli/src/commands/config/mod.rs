//! `belljar config`.

mod skills;

use std::process::ExitCode;

use anyhow::{Context, Result};
use belljar_core::envelope;
use serde_json::json;

use crate::app;
use crate::arguments::{Config as Command, Global};
use crate::config::{self, Config, Loaded};
use crate::exit;
use crate::output;

/// Runs one of its commands.
pub(super) async fn run(global: &Global, command: Command) -> Result<ExitCode> {
    match command {
        Command::Check => check(global).await,
        Command::Show { origin } => show(global, origin),
        Command::Schema => schema(),
    }
}

async fn check(global: &Global) -> Result<ExitCode> {
    let Loaded { config, origin } = config::load(global.config.as_deref())?;
    let faults = app::check(&config);
    let notes = if config.skills.roots.is_empty() { Vec::new() } else { skills::notes(global).await };
    if global.json {
        let data = json!({ "origin": origin.to_string(), "faults": faults, "notes": notes });
        output::json(&envelope::of("config_check", data));
    } else if faults.is_empty() {
        output::line(&format!("{origin}: no fault found"));
    } else {
        output::note(&format!("belljar: {origin} is wrong:"));
        faults.iter().for_each(|fault| output::note(&format!("  - {}", output::safe(fault))));
    }
    if !global.json {
        notes.iter().for_each(|note| output::note(&format!("note: {}", output::safe(note))));
    }
    Ok(if faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(exit::REFUSED) })
}

fn show(global: &Global, with_origin: bool) -> Result<ExitCode> {
    let Loaded { config, origin } = config::load(global.config.as_deref())?;
    if global.json {
        output::json(&envelope::of("config", json!({ "origin": origin.to_string(), "config": config })));
        return Ok(ExitCode::SUCCESS);
    }
    if with_origin {
        output::line(&format!("# from: {origin}"));
    }
    output::text(&toml::to_string(&config).context("the configuration has no text form")?);
    Ok(ExitCode::SUCCESS)
}

fn schema() -> Result<ExitCode> {
    let schema = schemars::schema_for!(Config);
    output::line(&serde_json::to_string_pretty(&schema).context("the schema has no text form")?);
    Ok(ExitCode::SUCCESS)
}
