//! `belljar grant`.

mod add;
mod from;
mod list;
mod pending;
mod revoke;

use std::process::ExitCode;

use anyhow::Result;
use belljar_core::grant::Grant as Granted;
use belljar_core::refusal::Refusal;

use crate::app;
use crate::arguments::{Global, Grant};
use crate::output;

/// Runs one of its commands.
pub(super) async fn run(global: &Global, command: Grant) -> Result<ExitCode> {
    match command {
        Grant::Add { skill, script, pin, from, pending, revision, expires, replace } => {
            let what = match (pending, skill, script, from, pin) {
                (Some(id), ..) => add::What::Pending(id),
                (None, Some(skill), Some(script), Some(from), pin) => {
                    add::What::Changed { skill, script, from, pin, revision }
                }
                (None, Some(skill), Some(script), None, Some(pin)) => {
                    add::What::Script { skill, script, pin, revision }
                }
                // The command line asks for all three without --pending.
                (None, ..) => return Err(Refusal::invalid_argument("grant", "name a skill, a script and a pin").into()),
            };
            let wanted = add::Wanted { what, expires, replace };
            app::with(global, None, async |app| add::run(global, app, wanted).await).await
        }
        Grant::List { pending: false } => {
            app::with_nothing_running(global, async |app| list::run(global, app).await).await
        }
        Grant::List { pending: true } => {
            app::with_nothing_running(global, async |app| pending::run(global, app).await).await
        }
        Grant::Revoke { grant, script, stop } => {
            app::with_nothing_running(global, async |app| revoke::run(global, app, &grant, script, stop).await).await
        }
    }
}

fn describe(grant: &Granted, skill: &str) -> String {
    let pin = grant.pin.map_or_else(|| "no pin".to_owned(), |pin| pin.to_string());
    format!("{} · {skill} {} · pin {pin}", grant.id, output::safe(grant.target.as_str()))
}
