//! `belljar skill check`.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use belljar_core::envelope;
use belljar_core::skill::Strictness;
use serde_json::json;

use super::{read, tell_notes};
use crate::arguments::Global;
use crate::output;

/// Checks a folder without saving it.
pub(super) fn run(global: &Global, folder: &Path, strictness: Strictness) -> Result<ExitCode> {
    let read = read(global, folder, strictness)?;
    let manifest = &read.manifest;
    if global.json {
        let notes: Vec<_> =
            read.notes.iter().map(|note| json!({ "path": note.path, "message": note.message })).collect();
        output::json(&envelope::of("skill_check", json!({ "manifest": manifest, "notes": notes })));
        return Ok(ExitCode::SUCCESS);
    }
    tell_notes(&read);
    let files = output::count(manifest.files.len() as u64, "file");
    let scripts = output::count(manifest.scripts.len() as u64, "script");
    let size = output::size(read.files.size());
    output::line(&format!("{} · {files}, {size} · {scripts} · can be saved", manifest.name));
    Ok(ExitCode::SUCCESS)
}
