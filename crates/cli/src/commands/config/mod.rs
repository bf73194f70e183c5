//! `belljar config`.

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
pub(super) fn run(global: &Global, command: Command) -> Result<ExitCode> {
    match command {
        Command::Check => check(global),
        Command::Show { origin } => show(global, origin),
        Command::Schema => schema(),
    }
}

fn check(global: &Global) -> Result<ExitCode> {
    let Loaded { config, origin } = config::load(global.config.as_deref())?;
    let faults = app::check(&config);
    if global.json {
        output::json(&envelope::of("config_check", json!({ "origin": origin.to_string(), "faults": faults })));
    } else if faults.is_empty() {
        output::line(&format!("{origin}: no fault found"));
    } else {
        output::note(&format!("belljar: {origin} is wrong:"));
        faults.iter().for_each(|fault| output::note(&format!("  - {fault}")));
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
