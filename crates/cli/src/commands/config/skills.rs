//! What there is to say about the skill roots.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::Result;
use belljar_core::service::ListedSkill;

use crate::app::{self, App};
use crate::arguments::Global;

/// Folders under a root that are not used, and file skills that another skill of their name hides.
pub(super) async fn notes(global: &Global) -> Vec<String> {
    let looked = app::with_nothing_running(global, async |app| look(app).await).await;
    looked
        .unwrap_or_else(|error| vec![format!("what the skill roots hold cannot be compared with the store: {error:#}")])
}

async fn look(app: &App) -> Result<Vec<String>> {
    let (in_folders, problems) = app.belljar.file_skills(&app.caller).await?;
    let used: BTreeSet<_> = app.belljar.skills(&app.caller).await?.into_iter().filter_map(used_folder).collect();
    let unusable = problems.iter().map(|problem| format!("{}: {}", problem.folder.display(), problem.message));
    let hidden = in_folders.iter().filter(|skill| !used.contains(&skill.folder)).map(|skill| {
        format!("{}: the stored skill {} is used instead of this folder", skill.folder.display(), skill.slug)
    });
    Ok(unusable.chain(hidden).collect())
}

fn used_folder(skill: ListedSkill) -> Option<PathBuf> {
    match skill {
        ListedSkill::File(skill) => Some(skill.folder),
        ListedSkill::Stored(_) | ListedSkill::Registered { .. } => None,
    }
}
