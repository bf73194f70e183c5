//! `belljar skill show`.

use std::process::ExitCode;

use anyhow::Result;
use belljar_core::envelope;
use belljar_core::ids::RevisionId;
use belljar_core::refusal::Refusal;
use belljar_core::run::SkillSelector;
use belljar_core::service::{Pins, SkillDetails};
use belljar_core::skill::ComponentId;
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
            .revisions
            .iter()
            .map(|revision| json!({ "id": revision.id, "number": revision.number, "created_at": revision.created_at, "created_by": revision.created_by, "manifest_digest": revision.manifest_digest }))
            .collect();
        let data = json!({
            "skill": details.skill,
            "revisions": revisions,
            "revision": pins.revision,
            "scripts": pins.scripts,
            "all_scripts_pin": pins.all,
        });
        output::json(&envelope::of("skill", data));
    } else {
        show(&details, &pins);
    }
    Ok(ExitCode::SUCCESS)
}

fn show(details: &SkillDetails, pins: &Pins) {
    let SkillDetails { skill, revisions } = details;
    output::line(&format!("{} · {} · {}", skill.slug, skill.id, output::safe(&skill.owner.to_string())));
    output::line(&format!("  {}", output::safe(&skill.description)));
    output::line("\nrevisions");
    for revision in revisions {
        let mark = if revision.id == pins.revision.id { " (shown)" } else { "" };
        output::line(&format!("  {}  {}  {}{mark}", revision.number, revision.id, revision.created_at));
    }
    output::line("\nfiles");
    let files = pins.revision.manifest.files.iter().map(|(path, file)| {
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
