//! The chain's first half, looked at from outside: what would run, and which gate is closed.

use belljar_executor::{ExecutionId, ScriptName};

use super::request::Runnable;
use super::{Resolved, Stop, World, pass};
use crate::pin::Pinner;
use crate::refusal::Refusal;
use crate::service::Plan;

/// Plans a resolved call.
pub(crate) async fn preview(world: &World, resolved: Resolved) -> Result<Plan, Refusal> {
    let pinner = Pinner { options: &world.options, manifest: &resolved.revision.manifest, files: &resolved.files };
    let pin = pinner.script(&resolved.path);
    let (revision_id, revision_number) = (resolved.revision.id.clone(), resolved.revision.number);
    let request = runnable(world, &resolved)
        .zip(ExecutionId::parse("planned").ok())
        .map(|(runnable, id)| runnable.request(world, &resolved, id));
    let closed = match pass(world, resolved).await {
        Ok(_) => None,
        Err(Stop::Denied(denial)) => Some(denial.reason()),
        Err(Stop::Refused(refusal) | Stop::AccessDenied { refusal, .. }) => return Err(refusal),
    };
    Ok(Plan { pin, revision_id, revision_number, closed, request })
}

fn runnable(world: &World, resolved: &Resolved) -> Option<Runnable> {
    let language = resolved.declaration.language.clone()?;
    let interpreter = world.options.interpreter(&language)?.clone();
    let script_name = ScriptName::parse(resolved.path.file_name()).ok()?;
    Some(Runnable { language, interpreter, script_name })
}
