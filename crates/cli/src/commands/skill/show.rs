//! `belljar skill show`.

use std::process::ExitCode;

use anyhow::Result;
use belljar_core::envelope;
use belljar_core::ids::RevisionId;
use belljar_core::refusal::Refusal;
use belljar_core::run::SkillSelector;
use belljar_core::service::{Pins, SkillDetails};
use belljar_core::skill::{ComponentId, Edition, Source};
use belljar_executor::SkillName;
use serde_json::json;

use crate::app::App;
use crate::arguments::Global;
use crate::output;

/// Shows a skill: its revisions, and one revision's files, scripts and pins.
pub(super) async fn run(global: &Global, app: &App, skill: &str, revision: Option<&str>) -> Result<ExitCode> {
    let slug = SkillName::parse(skill).map_err(|error| Refusal::invalid_argument("skill", error))?;
    let details = app.belljar.skill(&app.caller, &slug).await?;
    let revision = revision.map(RevisionId::new);
    let pins = app.belljar.pins(&app.caller, &SkillSelector::Slug(slug), revision.as_ref()).await?;
    if global.json {
        let revisions: Vec<_> = details
            .iter()
            .flat_map(|details| &details.revisions)
            .map(|revision| json!({ "id": revision.id, "number": revision.number, "created_at": revision.created_at, "created_by": revision.created_by, "manifest_digest": revision.manifest_digest }))
            .collect();
        let data = json!({
            "skill": details.as_ref().map(|details| &details.skill),
            "revisions": revisions,
            "revision": pins.edition.revision(),
            "slug": pins.edition.slug(),
            "source": source(pins.edition.source()),
            "folder": folder(pins.edition.source()),
            "manifest": pins.edition.manifest(),
            "scripts": pins.scripts,
            "all_scripts_pin": pins.all,
        });
        output::json(&envelope::of("skill", data));
    } else {
        match &details {
            Some(details) => show_stored(details, &pins),
            None => show_unstored(&pins.edition),
        }
        show_files(&pins);
    }
    Ok(ExitCode::SUCCESS)
}

const fn source(source: &Source) -> &'static str {
    match source {
        Source::Revision(_) => "stored",
        Source::Registered(_) => "registered",
        Source::Folder { .. } => "file",
    }
}

fn folder(source: &Source) -> Option<String> {
    match source {
        Source::Folder { folder, .. } => Some(folder.display().to_string()),
        Source::Revision(_) | Source::Registered(_) => None,
    }
}

fn show_stored(details: &SkillDetails, pins: &Pins) {
    let SkillDetails { skill, revisions } = details;
    output::line(&format!("{} · {} · {}", skill.slug, skill.id, output::safe(&skill.owner.to_string())));
    output::line(&format!("  {}", output::safe(&skill.description)));
    output::line("\nrevisions");
    for revision in revisions {
        let shown = pins.edition.revision().is_some_and(|shown| shown.id == revision.id);
        let mark = if shown { " (shown)" } else { "" };
        output::line(&format!("  {}  {}  {}{mark}", revision.number, revision.id, revision.created_at));
    }
}

fn show_unstored(edition: &Edition) {
    let place = folder(edition.source()).map_or_else(String::new, |folder| format!(" · {}", output::safe(&folder)));
    output::line(&format!("{} · {}{place}", edition.slug(), source(edition.source())));
    output::line(&format!("  {}", output::safe(&edition.manifest().description)));
}

fn show_files(pins: &Pins) {
    output::line("\nfiles");
    let files = pins.edition.manifest().files.iter().map(|(path, file)| {
        let (path, id) = (output::safe(path.as_str()), ComponentId::of(path));
        vec![format!("  {path}"), file.component_type.as_str().to_owned(), output::size(file.size), id.to_string()]
    });
    output::text(&output::table(&files.collect::<Vec<_>>()));
    output::line("\nscripts");
    for (path, script) in &pins.scripts {
        let interpreter = script.interpreter.as_deref().unwrap_or("not allowed");
        output::line(&format!("  {} · {interpreter}\n    pin {}", output::safe(path.as_str()), script.pin));
    }
    output::line(&format!("  * (all scripts)\n    pin {}", pins.all));
}
