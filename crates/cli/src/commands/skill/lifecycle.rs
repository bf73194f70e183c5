//! `belljar skill publish`, `archive`, `unarchive` and `purge`.

use std::process::ExitCode;

use anyhow::Result;
use belljar_core::code::Code;
use belljar_core::envelope;
use belljar_core::ids::RevisionId;
use belljar_core::refusal::Refusal;
use belljar_core::run::SkillSelector;
use belljar_executor::SkillName;
use serde_json::{Value, json};

use crate::app::{self, App};
use crate::arguments::Global;
use crate::output;

/// Works on the skill of this name. Nothing runs.
pub(super) async fn with(
    global: &Global,
    skill: &str,
    work: impl AsyncFnOnce(&App, &SkillName) -> Result<ExitCode>,
) -> Result<ExitCode> {
    let slug = SkillName::parse(skill).map_err(|error| Refusal::invalid_argument("skill", error))?;
    app::with_nothing_running(global, async |app| work(app, &slug).await).await
}

/// Publishes a revision, the latest when none is named.
pub(super) async fn publish(global: &Global, app: &App, slug: &SkillName, revision: Option<&str>) -> Result<ExitCode> {
    let revision = match revision {
        Some(revision) => RevisionId::new(revision),
        None => latest(app, slug).await?,
    };
    let changed = app.belljar.publish(&app.caller, &SkillSelector::Slug(slug.clone()), &revision).await?;
    let data = json!({ "slug": slug, "revision_id": revision, "changed": changed });
    tell(global, slug, &format!("published {revision}"), changed, data)
}

async fn latest(app: &App, slug: &SkillName) -> Result<RevisionId> {
    let details = app.belljar.skill(&app.caller, slug).await?;
    let latest = details.and_then(|details| details.revisions.into_iter().next());
    Ok(latest
        .map(|revision| revision.id)
        .ok_or_else(|| Refusal::new(Code::RevisionNotFound, "The skill has no revision."))?)
}

/// Archives a skill or takes it back.
pub(super) async fn archive(global: &Global, app: &App, slug: &SkillName, archived: bool) -> Result<ExitCode> {
    let changed = app.belljar.set_archived(&app.caller, &SkillSelector::Slug(slug.clone()), archived).await?;
    let what = if archived { "archived" } else { "no longer archived" };
    tell(global, slug, what, changed, json!({ "slug": slug, "archived": archived, "changed": changed }))
}

/// Deletes a skill, when that was really said.
pub(super) async fn purge(global: &Global, app: &App, slug: &SkillName, yes: bool) -> Result<ExitCode> {
    if !yes {
        let message = format!("deletes {slug} with all its revisions, for good: say --yes, or archive it instead");
        return Err(Refusal::invalid_argument("purge", message).into());
    }
    let skill = app.belljar.purge(&app.caller, &SkillSelector::Slug(slug.clone())).await?;
    tell(global, slug, "purged", true, json!({ "slug": slug, "skill_id": skill.id, "purged": true }))
}

fn tell(global: &Global, slug: &SkillName, what: &str, changed: bool, data: Value) -> Result<ExitCode> {
    if global.json {
        output::json(&envelope::of("skill", data));
    } else {
        output::line(&format!("{slug}: {what}{}", if changed { "" } else { " (was so already)" }));
    }
    Ok(ExitCode::SUCCESS)
}
