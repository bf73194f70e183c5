//! From a call to one script of one revision, with the bytes that will run.

use std::sync::Arc;
use std::time::Duration;

use belljar_executor::{FileTree, LogicalPath, RunId, SkillName};
use serde_json::json;

use super::{Call, SkillSelector, Stop, World};
use crate::caller::{Caller, Scope};
use crate::code::Code;
use crate::refusal::Refusal;
use crate::skill::{ComponentType, Revision, RevisionChoice, ScriptDeclaration, Skill};

/// How many candidates a not-found answer names.
const CANDIDATES: usize = 20;

/// A call whose skill, revision, script and bytes are fixed. Nothing is read again after this.
#[derive(Debug)]
pub struct Resolved {
    pub(super) caller: Caller,
    pub(super) skill: Skill,
    pub(super) revision: Revision,
    pub(super) path: LogicalPath,
    pub(super) declaration: ScriptDeclaration,
    pub(super) files: FileTree,
    pub(super) content: Arc<str>,
    pub(super) arguments_json: Option<Arc<str>>,
    pub(super) argv: Vec<String>,
    pub(super) timeout: Duration,
    pub(super) run_id: Option<RunId>,
}

impl Resolved {
    /// Names what was resolved in the current span. Only names that were checked get there.
    pub(super) fn name_in_span(&self) {
        let span = tracing::Span::current();
        span.record("skill", self.skill.slug.as_str());
        span.record("script", self.path.as_str());
        span.record("revision", self.revision.id.as_str());
    }
}

/// Resolves a call in the caller's scope.
///
/// # Errors
/// The first check that fails; their order is the order of the code.
pub async fn resolve(world: &World, caller: Caller, call: Call) -> Result<Resolved, Stop> {
    if !caller.may(Scope::MemoryWrite) {
        let refusal = Refusal::new(Code::AccessDenied, "This call needs the scope memory:write.");
        return Err(Stop::AccessDenied { caller: Box::new(caller), refusal });
    }
    let skill = match find_skill(world, &caller, &call.skill).await {
        Ok(skill) => skill,
        Err(refusal) if refusal.code() == Code::AccessDenied => {
            return Err(Stop::AccessDenied { caller: Box::new(caller), refusal });
        }
        Err(refusal) => return Err(refusal.into()),
    };
    if skill.archived {
        return Err(Refusal::new(Code::SkillArchived, "The skill is archived.").into());
    }
    let revision = find_revision(world, &skill, call.revision.as_ref()).await?;
    let path = find_script(&revision, &call.script)?;
    let declaration =
        revision.manifest.scripts.get(&path).cloned().ok_or_else(|| damaged("a script is not declared"))?;
    let files = world.ports.skills.files(&skill.tenant, &revision.id).await.map_err(Refusal::from)?;
    let content = files
        .get(&path)
        .and_then(|bytes| std::str::from_utf8(bytes).ok())
        .map(Arc::from)
        .ok_or_else(|| damaged("a script has no text"))?;
    let timeout = world.options.timeout(call.timeout_seconds, declaration.timeout_seconds);
    Ok(Resolved {
        caller,
        skill,
        revision,
        path,
        declaration,
        files,
        content,
        arguments_json: call.arguments_json.map(Arc::from),
        argv: call.argv,
        timeout,
        run_id: call.run_id,
    })
}

fn damaged(what: &'static str) -> Refusal {
    crate::ports::StoreError::Damaged(what.to_owned()).into()
}

/// The skill that a selector names, in the caller's scope.
///
/// # Errors
/// `SKILL_NOT_FOUND` for an unknown slug; `ACCESS_DENIED` for an id outside the caller's scope, with one
/// answer and one query whether it exists or not.
pub(crate) async fn find_skill(world: &World, caller: &Caller, selector: &SkillSelector) -> Result<Skill, Refusal> {
    let skills = &world.ports.skills;
    match selector {
        SkillSelector::Slug(slug) => match skills.find_by_slug(caller.tenant(), &caller.owners(), slug).await? {
            Some(skill) => Ok(skill),
            None => Err(skill_not_found(world, caller, slug).await?),
        },
        SkillSelector::Id(id) | SkillSelector::Both(id, _) => {
            let found = skills.find_by_id(caller.tenant(), id).await?.filter(|skill| caller.sees(&skill.owner));
            let skill = found.ok_or_else(|| Refusal::new(Code::AccessDenied, "The skill is not in your scope."))?;
            match selector {
                SkillSelector::Both(_, slug) if *slug != skill.slug => {
                    Err(Refusal::invalid_argument("slug", "names another skill than skill_id"))
                }
                _ => Ok(skill),
            }
        }
    }
}

async fn skill_not_found(world: &World, caller: &Caller, slug: &SkillName) -> Result<Refusal, Refusal> {
    let known = world.ports.skills.list(caller.tenant(), &caller.owners()).await?;
    let candidates: Vec<_> = known.iter().map(|skill| skill.slug.as_str()).take(CANDIDATES).collect();
    let message = format!("No skill named {slug} is in your scope.");
    Ok(Refusal::new(Code::SkillNotFound, message).with("candidates", json!(candidates)))
}

/// The revision that a caller names, else the published, else the latest.
///
/// # Errors
/// `REVISION_NOT_FOUND`.
pub(crate) async fn find_revision(
    world: &World,
    skill: &Skill,
    wanted: Option<&crate::ids::RevisionId>,
) -> Result<Revision, Refusal> {
    let choice = wanted.map_or(RevisionChoice::Current, |id| RevisionChoice::Exact(id.clone()));
    let found = world.ports.skills.revision(&skill.tenant, &skill.id, &choice).await?;
    found.ok_or_else(|| Refusal::new(Code::RevisionNotFound, "The skill has no such revision."))
}

/// The path of the script that a caller names.
///
/// # Errors
/// `SCRIPT_NOT_FOUND` or `INVALID_COMPONENT_TYPE`.
pub(crate) fn find_script(revision: &Revision, wanted: &str) -> Result<LogicalPath, Refusal> {
    let manifest = &revision.manifest;
    let candidates = || {
        let paths: Vec<_> = manifest.scripts.keys().map(LogicalPath::as_str).take(CANDIDATES).collect();
        json!(paths)
    };
    let Some((path, entry)) = manifest.find(wanted) else {
        let refusal = Refusal::new(Code::ScriptNotFound, "The revision has no such component.");
        return Err(refusal.with("candidates", candidates()));
    };
    if entry.component_type == ComponentType::Script {
        return Ok(path.clone());
    }
    let message = format!("{path} is a {}, not a script.", entry.component_type.as_str());
    Err(Refusal::new(Code::InvalidComponentType, message).with("candidates", candidates()))
}
