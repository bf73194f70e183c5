//! The chain's first half, looked at from outside: what would run, and which gate is closed.

use belljar_executor::{ExecutionId, ScriptName};

use super::gates::script_name;
use super::request::Runnable;
use super::{Resolved, Stop, World, pass};
use crate::pin::Pinner;
use crate::refusal::Refusal;
use crate::service::Plan;

/// Plans a resolved call.
pub(crate) async fn preview(world: &World, resolved: Resolved) -> Result<Plan, Refusal> {
    let edition = &resolved.edition;
    let pinner = Pinner { options: &world.options, manifest: edition.manifest(), files: edition.files() };
    let pin = pinner.script(&resolved.path);
    let edition = edition.clone();
    let request = runnable(world, &resolved)
        .zip(ExecutionId::parse("planned").ok())
        .map(|(runnable, id)| runnable.request(world, &resolved, id));
    let closed = match pass(world, resolved).await {
        Ok(_) => None,
        Err(Stop::Denied(denial)) => Some(denial.reason()),
        Err(Stop::Refused(refusal) | Stop::AccessDenied { refusal, .. }) => return Err(refusal),
    };
    Ok(Plan { pin, edition, closed, request })
}

fn runnable(world: &World, resolved: &Resolved) -> Option<Runnable> {
    let language = resolved.declaration.language.clone()?;
    let interpreter = world.options.interpreter(&language)?.clone();
    // A name that a gate refuses is shown all the same: the gate tells about it.
    let script_name = script_name(resolved).ok().or_else(|| ScriptName::parse(resolved.path.as_str()).ok())?;
    Some(Runnable { language, interpreter, script_name })
}
