//! `belljar skill add`.

use std::process::ExitCode;

use anyhow::Result;
use belljar_core::envelope;
use belljar_core::skill::SkillFolder;
use serde_json::json;

use super::tell_notes;
use crate::app::App;
use crate::arguments::Global;
use crate::output;

/// Saves a folder as a revision.
pub(super) async fn run(global: &Global, app: &App, read: SkillFolder) -> Result<ExitCode> {
    if !global.json {
        tell_notes(&read);
    }
    let notes: Vec<_> = read.notes.iter().map(|note| json!({ "path": note.path, "message": note.message })).collect();
    let saved = app.belljar.save_skill(&app.caller, read.manifest, read.files).await?;
    let revision = &saved.revision;
    if global.json {
        let data = json!({
            "skill_id": saved.skill.id,
            "slug": saved.skill.slug,
            "revision_id": revision.id,
            "revision": revision.number,
            "is_new": saved.is_new,
            "notes": notes,
        });
        output::json(&envelope::of("skill", data));
    } else {
        let state = if saved.is_new { "new" } else { "saved before" };
        output::line(&format!("{} · revision {} ({state}) · {}", saved.skill.slug, revision.number, revision.id));
    }
    Ok(ExitCode::SUCCESS)
}
