//! The gates, in order. The first closed one wins and the rest are not evaluated.

use belljar_executor::{Digest, Interpreter, LanguageKey, LogicalPath, Origin, ScriptName};
use serde_json::Value;

use super::request::Runnable;
use super::{Call, Denial, Resolved, SkillSelector, Stop, World};
use crate::caller::Caller;
use crate::code::Reason;
use crate::grant::{Grant, GrantTarget};
use crate::pin::Pinner;
use crate::ports::StoreError;
use crate::refusal::Refusal;
use crate::skill::{Edition, InputMode, satisfies};

/// A call that passed every gate.
#[derive(Debug)]
pub struct Cleared {
    pub(super) resolved: Box<Resolved>,
    pub(super) grant: Grant,
    pub(super) pin: Digest,
    pub(super) runnable: Runnable,
}

/// Why a call does not pass.
enum Closed {
    Gate(Reason),
    Store(StoreError),
}

impl From<Reason> for Closed {
    fn from(reason: Reason) -> Self {
        Self::Gate(reason)
    }
}

impl From<StoreError> for Closed {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// Passes a call through all gates.
///
/// # Errors
/// [`Stop::Denied`] with the first closed gate; [`Stop::Refused`] when a gate's facts cannot be read.
pub async fn pass(world: &World, resolved: Resolved) -> Result<Cleared, Stop> {
    let resolved = Box::new(resolved);
    match walk(world, &resolved).await {
        Ok((grant, pin, runnable)) => Ok(Cleared { resolved, grant, pin, runnable }),
        Err(Closed::Gate(reason)) => Err(Stop::Denied(Denial { reason, resolved, unavailable: None })),
        Err(Closed::Store(error)) => Err(error.into()),
    }
}

async fn walk(world: &World, resolved: &Resolved) -> Result<(Grant, Digest, Runnable), Closed> {
    enabled(world, resolved).await?;
    let (grant, pin) = granted(world, resolved).await?;
    let (language, interpreter) = interpreter(world, resolved)?;
    arguments(world, resolved).await?;
    let script_name = script_name(resolved)?;
    file_size(world, resolved)?;
    Ok((grant, pin, Runnable { language, interpreter, script_name }))
}

/// The first gate that is closed for a script whatever its arguments.
///
/// # Errors
/// When a gate's facts cannot be read.
pub(crate) async fn closed_gate(
    world: &World,
    caller: &Caller,
    edition: &Edition,
    path: &LogicalPath,
) -> Result<Option<Reason>, Refusal> {
    let call = Call::new(SkillSelector::Slug(edition.slug().clone()), path.as_str());
    let resolved = Resolved::of(world, caller.clone(), edition.clone(), path.clone(), call)?;
    let walked = async {
        enabled(world, &resolved).await?;
        granted(world, &resolved).await?;
        interpreter(world, &resolved)?;
        script_name(&resolved)?;
        file_size(world, &resolved)?;
        world.health.report().map(drop).map_err(|_| Closed::Gate(Reason::SandboxUnavailable))
    };
    match walked.await {
        Ok(()) => Ok(None),
        Err(Closed::Gate(reason)) => Ok(Some(reason)),
        Err(Closed::Store(error)) => Err(error.into()),
    }
}

async fn enabled(world: &World, resolved: &Resolved) -> Result<(), Closed> {
    if !world.options.enabled() {
        return Err(Reason::FeatureDisabled.into());
    }
    if world.ports.pauses.is_paused(&resolved.edition.tenant).await? {
        return Err(Reason::ExecutionPaused.into());
    }
    if resolved.edition.origin() == Origin::Stored && !world.options.allow_stored_scripts() {
        return Err(Reason::StoredScriptsDisabled.into());
    }
    Ok(())
}

async fn granted(world: &World, resolved: &Resolved) -> Result<(Grant, Digest), Closed> {
    let Resolved { edition, path, .. } = resolved;
    let now = world.ports.clock.now();
    let grants = world.ports.grants.active(&edition.tenant, &edition.grant_key, path, now).await?;
    let pinner = Pinner { options: &world.options, manifest: edition.manifest(), files: edition.files() };
    let pin = pinner.script(path).ok_or(Reason::GrantMissing)?;
    let candidates = candidates(grants, path.as_str())?;
    let grant = if edition.origin() == Origin::Stored || world.options.pin_file_scripts() {
        pinned(candidates, pin, || pinner.all())
    } else {
        candidates.into_iter().next().ok_or(Reason::GrantMissing)
    };
    grant.map(|grant| (grant, pin)).map_err(Closed::from)
}

/// The grants that may open the gate. While a script has active grants of its own, those for `*` do not count.
fn candidates(grants: Vec<Grant>, path: &str) -> Result<Vec<Grant>, Reason> {
    let (own, wide): (Vec<_>, Vec<_>) = grants
        .into_iter()
        .filter(|grant| {
            matches!(&grant.target, GrantTarget::Script(script) if script == path)
                || grant.target == GrantTarget::AllScripts
        })
        .partition(|grant| grant.target != GrantTarget::AllScripts);
    let candidates = if own.is_empty() { wide } else { own };
    if candidates.is_empty() { Err(Reason::GrantMissing) } else { Ok(candidates) }
}

/// The grant at the pin of what would run.
fn pinned(candidates: Vec<Grant>, pin: Digest, all: impl FnOnce() -> Digest) -> Result<Grant, Reason> {
    let is_wide = candidates.iter().any(|grant| grant.target == GrantTarget::AllScripts);
    let wanted = if is_wide { all() } else { pin };
    if candidates.iter().all(|grant| grant.pin.is_none()) {
        return Err(Reason::GrantUnpinned);
    }
    candidates.into_iter().find(|grant| grant.pin == Some(wanted)).ok_or(Reason::ContentChanged)
}

fn interpreter(world: &World, resolved: &Resolved) -> Result<(LanguageKey, Interpreter), Reason> {
    let language = resolved.declaration.language.as_ref().ok_or(Reason::InterpreterNotAllowed)?;
    let interpreter = world.options.interpreter(language).ok_or(Reason::InterpreterNotAllowed)?;
    Ok((language.clone(), interpreter.clone()))
}

async fn arguments(world: &World, resolved: &Resolved) -> Result<(), Reason> {
    let json = resolved.arguments_json.as_deref();
    let bytes = json.map_or(0, str::len) + resolved.argv.iter().map(String::len).sum::<usize>();
    if bytes > world.options.max_argument_bytes() {
        return Err(Reason::ArgumentsTooLarge);
    }
    let channel_is_taken = match resolved.declaration.input {
        InputMode::Both => true,
        InputMode::Stdin => resolved.argv.is_empty(),
        InputMode::Argv => json.is_none(),
    };
    // A NUL ends an argument for the kernel: what the script got would not be what was asked for.
    if !channel_is_taken || resolved.argv.iter().any(|argument| argument.contains('\0')) {
        return Err(Reason::ArgumentsInvalid);
    }
    let value = json.map(crate::json::parse).transpose().map_err(|_| Reason::ArgumentsInvalid)?;
    let Some(schema) = &resolved.declaration.parameters else { return Ok(()) };
    // Arguments that only go to the command line are not JSON; the schema speaks of the JSON.
    if value.is_none() && !resolved.argv.is_empty() {
        return Ok(());
    }
    let value = value.unwrap_or_else(|| Value::Object(serde_json::Map::new()));
    if satisfies(schema.clone(), value).await { Ok(()) } else { Err(Reason::ArgumentsInvalid) }
}

/// A stored script is called by its file name, a file script by its path inside the skill's folder.
pub(super) fn script_name(resolved: &Resolved) -> Result<ScriptName, Reason> {
    let name = match resolved.edition.origin() {
        Origin::Stored => ScriptName::parse(resolved.path.file_name()).ok().filter(ScriptName::is_plain),
        Origin::File => ScriptName::parse(resolved.path.as_str()).ok(),
    };
    name.ok_or(Reason::ScriptNameInvalid)
}

fn file_size(world: &World, resolved: &Resolved) -> Result<(), Reason> {
    if resolved.content.len() > world.options.max_script_bytes() { Err(Reason::ScriptTooLarge) } else { Ok(()) }
}
