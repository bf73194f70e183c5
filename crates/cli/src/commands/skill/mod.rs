//! `belljar skill`.

mod add;
mod check;
mod lifecycle;
mod list;
mod show;

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use belljar_core::code::Code;
use belljar_core::ids::RevisionId;
use belljar_core::refusal::Refusal;
use belljar_core::skill::{Expectation, Problem, SaveLimits, SkillFolder, Strictness, read_folder_within};
use serde_json::json;

use crate::app;
use crate::arguments::{Global, Skill};
use crate::config;
use crate::output;

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
        Skill::List => app::with_nothing_running(global, async |app| list::run(global, app).await).await,
        Skill::Show { skill, revision } => {
            app::with(global, None, async |app| show::run(global, app, &skill, revision.as_deref()).await).await
        }
    }
}

const fn strictness(strict: bool) -> Strictness {
    if strict { Strictness::Strict } else { Strictness::Lenient }
}

/// Reads a skill's folder under the configured limits; all problems become one refusal.
pub(super) fn read(global: &Global, folder: &Path, strictness: Strictness) -> Result<SkillFolder> {
    let loaded = config::load(global.config.as_deref())?;
    let most = usize::try_from(loaded.config.execution.max_script_bytes).unwrap_or(usize::MAX);
    let limits = SaveLimits { max_script_bytes: most, ..SaveLimits::default() };
    read_folder_within(folder, strictness, &limits).map_err(|problems| refuse(folder, &problems).into())
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
