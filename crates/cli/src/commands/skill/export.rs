//! `belljar skill export`.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result, anyhow};
use belljar_core::envelope;
use belljar_core::ids::RevisionId;
use belljar_core::run::SkillSelector;
use belljar_core::skill::{Edition, Strictness, front_matter, write_archive};
use belljar_executor::{FileTree, LogicalPath, SkillName};
use serde_json::json;

use crate::app::App;
use crate::arguments::Global;
use crate::output;

/// How a skill is exported.
#[derive(Debug)]
pub(super) struct How {
    pub(super) revision: Option<String>,
    pub(super) output: Option<PathBuf>,
    pub(super) repaired: bool,
}

/// Writes a revision's files, byte for byte, into a new folder or archive. Nothing that is there is overwritten.
pub(super) async fn run(global: &Global, app: &App, slug: &SkillName, how: How) -> Result<ExitCode> {
    let revision = how.revision.as_deref().map(RevisionId::new);
    let selector = SkillSelector::Slug(slug.clone());
    let edition = app.belljar.edition(&app.caller, &selector, revision.as_ref()).await?;
    let files = if how.repaired { repaired(&edition)? } else { edition.files().clone() };
    let place = how.output.unwrap_or_else(|| PathBuf::from(slug.as_str()));
    if place.extension().is_some_and(|extension| extension == "zip") {
        let archive = write_archive(slug, &files).context("the archive cannot be made")?;
        write_new(&place, &archive, false)?;
    } else {
        fs::create_dir(&place).with_context(|| format!("the folder {} cannot be made", place.display()))?;
        write_folder(&place, files.iter().map(|(path, bytes)| (path.as_str(), &**bytes)))?;
    }
    let id = edition.revision().map(|revision| &revision.id);
    if global.json {
        let data =
            json!({ "slug": slug, "revision_id": id, "path": place.display().to_string(), "files": files.len() });
        output::json(&envelope::of("skill_export", data));
    } else {
        let place = output::safe(&place.display().to_string());
        output::line(&format!("{slug}: {} written to {place}", output::count(files.len() as u64, "file")));
    }
    Ok(ExitCode::SUCCESS)
}

/// The files with the index entry as it was repaired when it was read.
fn repaired(edition: &Edition) -> Result<FileTree> {
    let index: LogicalPath = "SKILL.md".parse()?;
    let bytes = edition.files().get(&index).context("the skill has no SKILL.md")?;
    let (entry, _) = front_matter(bytes, Strictness::Lenient)
        .map_err(|problems| anyhow!(problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")))?;
    let mut files: std::collections::BTreeMap<_, _> =
        edition.files().iter().map(|(path, bytes)| (path.clone(), Arc::clone(bytes))).collect();
    files.insert(index, entry.replace_in(bytes).into());
    Ok(FileTree::new(files))
}

/// Writes files into a folder that was just made.
pub(super) fn write_folder<'a>(folder: &Path, files: impl Iterator<Item = (&'a str, &'a [u8])>) -> Result<()> {
    for (path, bytes) in files {
        let file = folder.join(path);
        if let Some(parent) = file.parent() {
            fs::create_dir_all(parent).with_context(|| format!("the folder {} cannot be made", parent.display()))?;
        }
        write_new(&file, bytes, bytes.starts_with(b"#!"))?;
    }
    Ok(())
}

fn write_new(file: &Path, bytes: &[u8], executable: bool) -> Result<()> {
    let mode = if executable { 0o777 } else { 0o666 };
    let written = OpenOptions::new().write(true).create_new(true).mode(mode).open(file);
    written
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .with_context(|| format!("{} cannot be written", file.display()))
}
