//! `belljar grant add --from PIN`: what changed since a pin that was reviewed, and the grant of what is there now.

use std::io::{BufRead, IsTerminal, stdin};
use std::process::ExitCode;

use anyhow::Result;
use belljar_core::envelope;
use belljar_core::grant::Grant;
use belljar_core::ids::RevisionId;
use belljar_core::run::SkillSelector;
use belljar_core::service::{GrantRequest, Review, ReviewRequest};
use belljar_core::time::Timestamp;
use belljar_executor::{Digest, SkillName};
use serde_json::{Value, json};

use super::describe;
use crate::app::App;
use crate::arguments::Global;
use crate::commands::differences;
use crate::{exit, output};

/// What is to be granted, and since when its changes are shown.
#[derive(Debug)]
pub(super) struct Wanted {
    pub(super) slug: SkillName,
    pub(super) script: String,
    pub(super) from: Digest,
    /// The pin that the reviewer saw; without one a person at a terminal is asked.
    pub(super) pin: Option<Digest>,
    pub(super) revision: Option<RevisionId>,
    pub(super) expires_at: Option<Timestamp>,
    pub(super) replace: bool,
}

/// Shows what changed, and grants what the reviewer then says yes to: exactly what was shown.
pub(super) async fn run(global: &Global, app: &App, wanted: Wanted) -> Result<ExitCode> {
    let skill = SkillSelector::Slug(wanted.slug.clone());
    let request = ReviewRequest {
        skill: skill.clone(),
        revision: wanted.revision.clone(),
        target: wanted.script.clone(),
        from: wanted.from,
    };
    let review = app.belljar.review(&app.caller, &request).await?;
    if !global.json {
        tell(&wanted, &review);
    }
    let expected_pin = match wanted.pin {
        Some(pin) => pin,
        None if asks(global) && ask(app)? => review.pin,
        None => return Ok(refused(global, &wanted, &review)),
    };
    let revision = review.after.revision().map(|revision| revision.id.clone());
    let request = GrantRequest {
        revision,
        expires_at: wanted.expires_at,
        replace: wanted.replace,
        ..GrantRequest::new(skill, review.target.as_str(), expected_pin)
    };
    let grant = app.belljar.grant(&app.caller, request).await?;
    granted(global, &wanted, &review, &grant);
    Ok(ExitCode::SUCCESS)
}

fn tell(wanted: &Wanted, review: &Review) {
    let script = output::safe(review.target.as_str());
    let number = |edition: &belljar_core::skill::Edition| {
        edition.revision().map(|revision| format!("revision {}", revision.number)).unwrap_or_default()
    };
    let (before, after) = (number(&review.before), number(&review.after));
    output::line(&format!("{} {script} · {before} at pin {} · {after} now", wanted.slug, wanted.from));
    if let Some(grant) = &review.granted {
        let by = output::safe(&grant.granted_by);
        output::line(&format!("granted by {by} at {}; since then:", grant.granted_at));
    }
    if !differences::tell(&review.before, &review.after) {
        output::line("no file changed, and nothing that is declared");
        if review.pin != wanted.from {
            output::line("its interpreter or its limits class is another one in this configuration");
        }
    }
    // Whoever names the pin that was seen is not told another one.
    if wanted.pin.is_none() {
        output::line(&format!("pin now {}", review.pin));
    }
}

/// Only a person at a terminal is asked.
fn asks(global: &Global) -> bool {
    !global.json && stdin().is_terminal() && output::is_watched()
}

fn ask(app: &App) -> Result<bool> {
    loop {
        output::error_text(&format!("Approve what is there now for tenant {}? [y]es · [n]o  ", app.caller.tenant()));
        let mut answer = String::new();
        if stdin().lock().read_line(&mut answer)? == 0 {
            return Ok(false);
        }
        match answer.trim() {
            "y" | "yes" => return Ok(true),
            "n" | "no" | "" => return Ok(false),
            _ => {}
        }
    }
}

/// The command that grants exactly what was shown.
fn command(wanted: &Wanted, review: &Review) -> String {
    let script = output::shell_word(review.target.as_str());
    let revision = wanted.revision.as_ref().map_or_else(String::new, |id| format!(" --revision {id}"));
    format!("belljar grant add {} {script} --pin {}{revision}", wanted.slug, review.pin)
}

fn refused(global: &Global, wanted: &Wanted, review: &Review) -> ExitCode {
    let command = command(wanted, review);
    if global.json {
        let mut data = changes(wanted, review);
        data["approve"] = command.into();
        output::json(&envelope::of("grant_review", data));
    } else {
        output::note("belljar: nothing was granted");
        output::note(&format!("         to approve what is shown above:  {}", output::safe(&command)));
    }
    ExitCode::from(exit::REFUSED)
}

fn granted(global: &Global, wanted: &Wanted, review: &Review, grant: &Grant) {
    if global.json {
        let mut data = json!(grant);
        data["review"] = changes(wanted, review);
        output::json(&envelope::of("grant", data));
    } else {
        output::line(&format!("granted {}", describe(grant, wanted.slug.as_str())));
    }
}

fn changes(wanted: &Wanted, review: &Review) -> Value {
    let id = |edition: &belljar_core::skill::Edition| edition.revision().map(|revision| revision.id.clone());
    json!({
        "slug": wanted.slug,
        "target": review.target,
        "from": { "pin": wanted.from, "revision_id": id(&review.before), "grant": review.granted },
        "to": { "pin": review.pin, "revision_id": id(&review.after) },
        "files": differences::json(&review.before, &review.after),
    })
}
