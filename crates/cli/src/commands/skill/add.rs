//! `belljar skill add`.

use std::process::ExitCode;

use anyhow::Result;
use belljar_core::envelope;
use belljar_core::service::SaveRequest;
use belljar_core::skill::{Expectation, SkillFolder};
use serde_json::json;

use super::tell_notes;
use crate::app::App;
use crate::arguments::Global;
use crate::output;

/// How a skill is saved.
#[derive(Debug)]
pub(super) struct How {
    pub(super) team: Option<String>,
    pub(super) expectation: Expectation,
    pub(super) publish: bool,
}

/// Saves a folder as a revision.
pub(super) async fn run(global: &Global, app: &App, read: SkillFolder, how: How) -> Result<ExitCode> {
    if !global.json {
        tell_notes(&read);
    }
    let notes: Vec<_> = read.notes.iter().map(|note| json!({ "path": note.path, "message": note.message })).collect();
    let How { team, expectation, publish } = how;
    let request = SaveRequest { team, expectation, publish, ..SaveRequest::new(read.manifest, read.files) };
    let saved = app.belljar.save_skill(&app.caller, request).await?;
    let revision = &saved.revision;
    if global.json {
        let data = json!({
            "skill_id": saved.skill.id,
            "slug": saved.skill.slug,
            "revision_id": revision.id,
            "revision": revision.number,
            "is_new": saved.is_new,
            "published": saved.skill.published.as_ref() == Some(&revision.id),
            "notes": notes,
        });
        output::json(&envelope::of("skill", data));
    } else {
        let state = if saved.is_new { "new" } else { "saved before" };
        let published = if saved.skill.published.as_ref() == Some(&revision.id) { " · published" } else { "" };
        output::line(&format!(
            "{} · revision {} ({state}) · {}{published}",
            saved.skill.slug, revision.number, revision.id
        ));
    }
    Ok(ExitCode::SUCCESS)
}
