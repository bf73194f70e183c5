//! `belljar skill`.

mod add;
mod check;
mod diff;
mod export;
mod lifecycle;
mod list;
mod new;
mod show;

use std::io::Read;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use belljar_core::code::Code;
use belljar_core::ids::RevisionId;
use belljar_core::refusal::Refusal;
use belljar_core::skill::{
    Expectation, Problem, SaveLimits, SkillFolder, Strictness, read_archive, read_folder_within,
};
use serde_json::json;

use crate::app;
use crate::arguments::{Global, Skill};
use crate::config;
use crate::output;

/// The largest archive that is read, bytes: twice what a skill's files may have together.
const LARGEST_ARCHIVE: u64 = 32 * 1024 * 1024;

/// Runs one of its commands.
pub(super) async fn run(global: &Global, command: Skill) -> Result<ExitCode> {
    match command {
        Skill::Check { folder, strict } => check::run(global, &folder, strictness(strict)),
        Skill::Add { folder, strict, publish, team, new, expect } => {
            let read = read(global, &folder, strictness(strict))?;
            let expectation = match (new, expect) {
                (true, _) => Expectation::NewSkill,
                (false, Some(revision)) => Expectation::Latest(RevisionId::new(&revision)),
                (false, None) => Expectation::Anything,
            };
            let how = add::How { team, expectation, publish };
            app::with_nothing_running(global, async |app| add::run(global, app, read, how).await).await
        }
        Skill::Publish { skill, revision } => {
            lifecycle::with(global, &skill, async |app, skill| {
                lifecycle::publish(global, app, skill, revision.as_deref()).await
            })
            .await
        }
        Skill::Archive { skill } => {
            lifecycle::with(global, &skill, async |app, skill| lifecycle::archive(global, app, skill, true).await).await
        }
        Skill::Unarchive { skill } => {
            lifecycle::with(global, &skill, async |app, skill| lifecycle::archive(global, app, skill, false).await)
                .await
        }
        Skill::Purge { skill, yes } => {
            lifecycle::with(global, &skill, async |app, skill| lifecycle::purge(global, app, skill, yes).await).await
        }
        Skill::New { name, output } => new::run(global, &name, output.as_deref()),
        Skill::Export { skill, revision, output, repaired } => {
            let how = export::How { revision, output, repaired };
            lifecycle::with(global, &skill, async |app, skill| export::run(global, app, skill, how).await).await
        }
        Skill::Diff { skill, from, to } => {
            lifecycle::with(global, &skill, async |app, skill| {
                diff::run(global, app, skill, from.as_deref(), to.as_deref()).await
            })
            .await
        }
        Skill::List => app::with_nothing_running(global, async |app| list::run(global, app).await).await,
        Skill::Show { skill, revision } => {
            app::with(global, None, async |app| show::run(global, app, &skill, revision.as_deref()).await).await
        }
    }
}

const fn strictness(strict: bool) -> Strictness {
    if strict { Strictness::Strict } else { Strictness::Lenient }
}

/// Reads a skill's folder, or its zip archive, under the configured limits; all problems become one refusal.
pub(super) fn read(global: &Global, folder: &Path, strictness: Strictness) -> Result<SkillFolder> {
    let loaded = config::load(global.config.as_deref())?;
    let most = usize::try_from(loaded.config.execution.max_script_bytes).unwrap_or(usize::MAX);
    let limits = SaveLimits { max_script_bytes: most, ..SaveLimits::default() };
    let read = if folder.is_file() {
        read_archive(&archive(folder)?, strictness, &limits)
    } else {
        read_folder_within(folder, strictness, &limits)
    };
    read.map_err(|problems| refuse(folder, &problems).into())
}

/// An archive's bytes, up to a size that no acceptable one has.
fn archive(path: &Path) -> Result<Vec<u8>> {
    let failed = |error: std::io::Error| {
        let message = format!("{} cannot be read: {error}", output::safe(&path.display().to_string()));
        Refusal::invalid_argument("skill", message)
    };
    let mut bytes = Vec::new();
    std::fs::File::open(path)
        .and_then(|file| file.take(LARGEST_ARCHIVE + 1).read_to_end(&mut bytes))
        .map_err(failed)?;
    if bytes.len() as u64 > LARGEST_ARCHIVE {
        return Err(
            Refusal::new(Code::PayloadTooLarge, format!("an archive has at most {LARGEST_ARCHIVE} bytes")).into()
        );
    }
    Ok(bytes)
}

fn refuse(folder: &Path, problems: &[Problem]) -> Refusal {
    let lines: Vec<_> = problems.iter().map(|problem| format!("\n  - {}", describe(problem))).collect();
    let message =
        format!("{} is not a skill that can be saved:{}", output::safe(&folder.display().to_string()), lines.concat());
    let problems: Vec<_> =
        problems.iter().map(|problem| json!({ "path": problem.path, "message": problem.message })).collect();
    Refusal::new(Code::InvalidArgument, message).with("problems", json!(problems))
}

fn describe(problem: &Problem) -> String {
    match &problem.path {
        Some(path) => format!("{}: {}", output::safe(path), output::safe(&problem.message)),
        None => output::safe(&problem.message),
    }
}

/// What a lenient import repaired or warns of, on standard error.
pub(super) fn tell_notes(read: &SkillFolder) {
    for note in &read.notes {
        output::note(&format!("note: {}: {}", output::safe(&note.path), output::safe(&note.message)));
    }
}
