//! From a call to one script of one revision, with the bytes that will run.

use std::sync::Arc;
use std::time::Duration;

use belljar_executor::{LogicalPath, RunId};

use super::locate::{Located, edition, find_script, find_skill};
use super::{Call, Stop, World};
use crate::caller::{Caller, Scope};
use crate::code::Code;
use crate::refusal::Refusal;
use crate::skill::{Edition, ScriptDeclaration};

/// A call whose skill, revision, script and bytes are fixed. Nothing is read again after this.
#[derive(Debug)]
pub struct Resolved {
    pub(super) caller: Caller,
    pub(super) edition: Edition,
    pub(super) path: LogicalPath,
    pub(super) declaration: ScriptDeclaration,
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
        span.record("skill", self.edition.slug().as_str());
        span.record("script", self.path.as_str());
        if let Some(revision) = self.edition.revision() {
            span.record("revision", revision.id.as_str());
        }
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
    if matches!(&skill, Located::Stored(skill) if skill.archived) {
        return Err(Refusal::new(Code::SkillArchived, "The skill is archived.").into());
    }
    let edition = edition(world, &caller, skill, call.revision.as_ref()).await?;
    let path = find_script(edition.manifest(), &call.script)?;
    Resolved::of(world, caller, edition, path, call).map_err(Stop::from)
}

impl Resolved {
    /// A call of this script of an edition.
    pub(super) fn of(
        world: &World,
        caller: Caller,
        edition: Edition,
        path: LogicalPath,
        call: Call,
    ) -> Result<Self, Refusal> {
        let declaration =
            edition.manifest().scripts.get(&path).cloned().ok_or_else(|| damaged("a script is not declared"))?;
        let content = edition
            .files()
            .get(&path)
            .and_then(|bytes| std::str::from_utf8(bytes).ok())
            .map(Arc::from)
            .ok_or_else(|| damaged("a script has no text"))?;
        let timeout = world.options.timeout(call.timeout_seconds, declaration.timeout_seconds);
        Ok(Resolved {
            caller,
            edition,
            path,
            declaration,
            content,
            arguments_json: call.arguments_json.map(Arc::from),
            argv: call.argv,
            timeout,
            run_id: call.run_id,
        })
    }
}

fn damaged(what: &'static str) -> Refusal {
    crate::ports::StoreError::Damaged(what.to_owned()).into()
}
