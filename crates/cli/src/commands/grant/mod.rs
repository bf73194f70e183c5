//! `belljar grant`.

mod add;
mod list;
mod revoke;

use std::process::ExitCode;

use anyhow::Result;
use belljar_core::grant::Grant as Granted;

use crate::app;
use crate::arguments::{Global, Grant};
use crate::output;

/// Runs one of its commands.
pub(super) async fn run(global: &Global, command: Grant) -> Result<ExitCode> {
    match command {
        Grant::Add { skill, script, pin, revision, expires, replace } => {
            let wanted = add::Wanted { skill, script, pin, revision, expires, replace };
            app::with(global, None, async |app| add::run(global, app, wanted).await).await
        }
        Grant::List => app::with_nothing_running(global, async |app| list::run(global, app).await).await,
        Grant::Revoke { grant, script, stop } => {
            app::with_nothing_running(global, async |app| revoke::run(global, app, &grant, script, stop).await).await
        }
    }
}

fn describe(grant: &Granted, skill: &str) -> String {
    let pin = grant.pin.map_or_else(|| "no pin".to_owned(), |pin| pin.to_string());
    format!("{} · {skill} {} · pin {pin}", grant.id, output::safe(grant.target.as_str()))
}
