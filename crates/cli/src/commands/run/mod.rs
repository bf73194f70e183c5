//! `belljar run`.

mod approve;
mod explain;
mod finish;
mod input;
mod interrupt;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use belljar_core::code::{Code, Reason};
use belljar_core::ids::RevisionId;
use belljar_core::refusal::Refusal;
use belljar_core::run::{Call, SkillSelector};
use belljar_core::service::SaveRequest;
use belljar_core::skill::{Edition, Saved, SkillFolder, Source as EditionSource, Strictness};
use belljar_executor::{RunId, SkillName};

use super::skill;
use crate::app::{self, App};
use crate::arguments::{Global, Run};
use crate::output;

/// A skill as the command line names it.
enum Source {
    /// A folder, read into memory once.
    Folder(Box<SkillFolder>),
    /// A skill by name, and the revision if one is fixed.
    Named(SkillName, Option<RevisionId>),
    /// A word that is a skill's name and a folder's here: the skill's, when there is one.
    NameOrFolder(SkillName, PathBuf),
}

/// Runs a script: imports a folder as a revision, asks for approval where that is possible, runs, and
/// passes on what the script wrote.
pub(super) async fn run(global: &Global, arguments: Run) -> Result<ExitCode> {
    let input = arguments.input.as_deref().map(input::read).transpose()?;
    let run_id = arguments.run_id.as_deref().map(RunId::parse).transpose();
    let run_id = run_id.map_err(|error| Refusal::invalid_argument("--run-id", error))?;
    let source = Source::read(global, &arguments)?;
    app::with(global, arguments.executor, async |app| {
        let (selector, revision, imported) = source.import(global, app).await?;
        let call = Call {
            skill: selector,
            revision,
            script: arguments.script.clone(),
            arguments_json: input,
            argv: arguments.arguments.iter().chain(&arguments.rest).cloned().collect(),
            timeout_seconds: arguments.timeout,
            run_id,
            idempotency_key: None,
        };
        go(global, app, &arguments, imported.as_ref(), call).await
    })
    .await
}

async fn go(global: &Global, app: &App, arguments: &Run, imported: Option<&Saved>, call: Call) -> Result<ExitCode> {
    let plan = app.belljar.plan(&app.caller, call.clone()).await;
    if arguments.explain {
        return explain::run(global, app, &plan?).await;
    }
    let mut prompted = false;
    if let Ok(plan) = &plan
        && plan.closed.is_some_and(Reason::wants_a_grant)
        // A script whose language is not allowed cannot be approved: nobody is asked to.
        && (arguments.grant || plan.request.is_some())
    {
        let decision = approve::decide(global, app, arguments.grant, imported, &call, plan)?;
        if decision.approved {
            approve::grant(app, &call, plan).await?;
        }
        prompted = decision.prompted;
    }
    let asked = arguments.timeout;
    let answer = finish::execute(app, call.clone()).await;
    match answer {
        Ok(answer) => Ok(finish::tell(global, &answer, asked)),
        Err(refusal) => {
            let reason = Reason::ALL.iter().find(|reason| Some(reason.as_str()) == refusal.reason());
            if !reason.is_some_and(|reason| reason.wants_a_grant()) {
                return Err(refusal.into());
            }
            if !global.json && !prompted {
                approve::tell_how(app, &call, imported).await?;
            }
            Err(approve::with_pin(app, refusal, &call).await.into())
        }
    }
}

/// Where an edition comes from, in words.
fn source(edition: &Edition) -> String {
    match edition.source() {
        EditionSource::Revision(revision) => format!("revision {}, {}", revision.number, revision.id),
        EditionSource::Registered(_) => "registered".to_owned(),
        EditionSource::Folder { folder, .. } => format!("file skill, {}", output::safe(&folder.display().to_string())),
    }
}

impl Source {
    /// A name with a slash is a folder's; any other is a skill's, and a folder's only when no skill has it: what
    /// lies in the current folder must not take the place of what was approved.
    fn read(global: &Global, arguments: &Run) -> Result<Self> {
        let Run { skill: text, revision, .. } = arguments;
        let path = Path::new(text);
        let is_word = !text.contains('/') && text != "." && text != "..";
        let slug = SkillName::parse(text);
        if is_word
            && revision.is_none()
            && path.join("SKILL.md").is_file()
            && let Ok(slug) = slug
        {
            return Ok(Self::NameOrFolder(slug, path.to_owned()));
        }
        if !is_word || path.join("SKILL.md").is_file() && slug.is_err() {
            if revision.is_some() {
                let message = format!("goes with a saved skill, and {text} is a folder");
                return Err(Refusal::invalid_argument("--revision", message).into());
            }
            return Ok(Self::Folder(Box::new(skill::read(global, path, Strictness::Lenient)?)));
        }
        let slug = slug.map_err(|error| {
            let message = format!("{text:?} is neither a folder with a SKILL.md nor a skill's name: {error}");
            Refusal::invalid_argument("skill", message)
        })?;
        Ok(Self::Named(slug, revision.as_deref().map(RevisionId::new)))
    }

    /// Imports a folder as a revision; its run is fixed to exactly that one.
    async fn import(self, global: &Global, app: &App) -> Result<(SkillSelector, Option<RevisionId>, Option<Saved>)> {
        match self {
            Self::Named(slug, revision) => Ok((SkillSelector::Slug(slug), revision, None)),
            Self::NameOrFolder(slug, folder) => {
                let selector = SkillSelector::Slug(slug.clone());
                match app.belljar.edition(&app.caller, &selector, None).await {
                    Err(refusal) if refusal.code() == Code::SkillNotFound => {
                        let read = Box::new(skill::read(global, &folder, Strictness::Lenient)?);
                        Box::pin(Self::Folder(read).import(global, app)).await
                    }
                    _ => {
                        if !global.json {
                            output::note(&format!("note: this is the skill {slug}; the folder here is ./{slug}"));
                        }
                        Ok((selector, None, None))
                    }
                }
            }
            Self::Folder(read) => {
                if !global.json {
                    skill::tell_notes(&read);
                }
                let saved = app.belljar.save_skill(&app.caller, SaveRequest::new(read.manifest, read.files)).await?;
                let (skill, revision) = (saved.skill.id.clone(), saved.revision.id.clone());
                Ok((SkillSelector::Id(skill), Some(revision), Some(saved)))
            }
        }
    }
}
