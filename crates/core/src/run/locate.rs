//! Finding a skill in a caller's scope, at the files that would run.

use std::path::PathBuf;
use std::sync::Arc;

use belljar_executor::{LogicalPath, SkillName};
use serde_json::{Value, json};

use super::{SkillSelector, World};
use crate::caller::{Caller, Scope};
use crate::code::Code;
use crate::ids::{RevisionId, SkillId};
use crate::refusal::Refusal;
use crate::skill::{
    ComponentType, Edition, FileEntry, Manifest, Revision, RevisionChoice, Skill, SkillFolder, Source, roots,
};

/// How many candidates a not-found answer names.
const CANDIDATES: usize = 20;

/// A skill that was found. Of one name, a registered skill comes before a stored one, and both before a
/// file skill.
#[derive(Debug)]
pub(crate) enum Located {
    /// In the store.
    Stored(Skill),
    /// Registered by the program.
    Registered(Arc<SkillFolder>),
    /// A folder under a root.
    Folder(SkillName, PathBuf),
}

impl Located {
    /// The key of its grants.
    pub(crate) fn grant_key(&self) -> SkillId {
        match self {
            Self::Stored(skill) => skill.id.clone(),
            Self::Registered(read) => SkillId::of_registered(&read.manifest.name),
            Self::Folder(slug, _) => SkillId::of_folder(slug),
        }
    }
}

/// The skill that a selector names, in the caller's scope.
///
/// # Errors
/// `SKILL_NOT_FOUND` for an unknown slug; `ACCESS_DENIED` for an id outside the caller's scope, with one
/// answer and one query whether it exists or not.
pub(crate) async fn find_skill(world: &World, caller: &Caller, selector: &SkillSelector) -> Result<Located, Refusal> {
    let skills = &world.ports.skills;
    match selector {
        SkillSelector::Slug(slug) => {
            if let Some(read) = world.registered.get(slug) {
                return Ok(Located::Registered(Arc::clone(read)));
            }
            if let Some(skill) = skills.find_by_slug(caller.tenant(), &caller.owners(), slug).await? {
                return Ok(Located::Stored(skill));
            }
            match find_folder(world, slug).await? {
                Some(folder) => Ok(Located::Folder(slug.clone(), folder)),
                None => Err(skill_not_found(world, caller, slug).await?),
            }
        }
        SkillSelector::Of(owner, slug) => {
            if !caller.sees(owner) {
                return Err(Refusal::new(Code::AccessDenied, "The skill is not in your scope."));
            }
            let found = skills.find_by_slug(caller.tenant(), std::slice::from_ref(owner), slug).await?;
            match found {
                Some(skill) => Ok(Located::Stored(skill)),
                None => Err(skill_not_found(world, caller, slug).await?),
            }
        }
        SkillSelector::Id(id) | SkillSelector::Both(id, _) => {
            let found = skills.find_by_id(caller.tenant(), id).await?.filter(|skill| caller.sees(&skill.owner));
            let skill = found.ok_or_else(|| Refusal::new(Code::AccessDenied, "The skill is not in your scope."))?;
            match selector {
                SkillSelector::Both(_, slug) if *slug != skill.slug => {
                    Err(Refusal::invalid_argument("slug", "names another skill than skill_id"))
                }
                _ => Ok(Located::Stored(skill)),
            }
        }
    }
}

async fn find_folder(world: &World, slug: &SkillName) -> Result<Option<PathBuf>, Refusal> {
    if world.options.skill_roots().is_empty() {
        return Ok(None);
    }
    let (roots, slug) = (world.options.skill_roots().to_vec(), slug.clone());
    reading(move || roots::locate(&roots, &slug)).await?.map_err(|error| {
        tracing::error!(%error, "a skill root cannot be read");
        Refusal::new(Code::StoreUnavailable, "A skill root cannot be read; see the log.")
    })
}

/// Reads files of the host where that holds nobody up.
pub(crate) async fn reading<T: Send + 'static>(read: impl FnOnce() -> T + Send + 'static) -> Result<T, Refusal> {
    tokio::task::spawn_blocking(read).await.map_err(|error| {
        tracing::error!(%error, "reading a skill's folder ended without an answer");
        Refusal::new(Code::Internal, "A skill's folder could not be read; see the log.")
    })
}

async fn skill_not_found(world: &World, caller: &Caller, slug: &SkillName) -> Result<Refusal, Refusal> {
    let known = world.ports.skills.list(caller.tenant(), &caller.owners()).await?;
    let roots = world.options.skill_roots().to_vec();
    let in_folders = reading(move || roots::names(&roots)).await?;
    let names = known.iter().map(|skill| skill.slug.as_str()).chain(world.registered.keys().map(SkillName::as_str));
    let names = names.chain(in_folders.iter().map(SkillName::as_str));
    let candidates: Vec<_> = names.collect::<std::collections::BTreeSet<_>>().into_iter().take(CANDIDATES).collect();
    let message = format!("No skill named {slug} is in your scope.");
    Ok(Refusal::new(Code::SkillNotFound, message).with("candidates", json!(candidates)))
}

/// The files that would run: those of the revision that the caller names, else the published, else the
/// latest; of a registered or file skill the ones there are.
///
/// # Errors
/// `REVISION_NOT_FOUND`; `SKILL_NOT_FOUND` for a folder that holds no usable skill.
pub(crate) async fn edition(
    world: &World,
    caller: &Caller,
    located: Located,
    wanted: Option<&RevisionId>,
) -> Result<Edition, Refusal> {
    let (tenant, grant_key) = (caller.tenant().clone(), located.grant_key());
    match located {
        Located::Stored(skill) => {
            let revision = Box::new(find_revision(world, &skill, wanted).await?);
            let files = world.ports.skills.files(&tenant, &revision.id).await?;
            Ok(Edition { tenant, grant_key, slug: skill.slug, files, source: Source::Revision(revision) })
        }
        Located::Registered(read) => {
            refuse_revision(wanted)?;
            let (slug, files) = (read.manifest.name.clone(), read.files.clone());
            Ok(Edition { tenant, grant_key, slug, files, source: Source::Registered(read) })
        }
        Located::Folder(slug, folder) => {
            refuse_revision(wanted)?;
            let place = folder.clone();
            let read =
                reading(move || roots::read(&place)).await?.map_err(|problem| unusable(caller, &slug, &problem))?;
            let (files, read) = (read.files.clone(), Box::new(read));
            Ok(Edition { tenant, grant_key, slug, files, source: Source::Folder { folder, read } })
        }
    }
}

fn refuse_revision(wanted: Option<&RevisionId>) -> Result<(), Refusal> {
    let none = || Refusal::new(Code::RevisionNotFound, "The skill has no revisions: it is not in the store.");
    wanted.map_or(Ok(()), |_| Err(none()))
}

/// Whoever may approve scripts learns what is wrong with the folder.
fn unusable(caller: &Caller, slug: &SkillName, problem: &str) -> Refusal {
    tracing::warn!(%slug, problem, "the folder of a file skill cannot be used");
    let refusal = Refusal::new(Code::SkillNotFound, format!("The folder of the skill {slug} cannot be used."));
    if caller.may(Scope::SkillsGrant) { refusal.with("problem", json!(problem)) } else { refusal }
}

async fn find_revision(world: &World, skill: &Skill, wanted: Option<&RevisionId>) -> Result<Revision, Refusal> {
    let choice = wanted.map_or(RevisionChoice::Current, |id| RevisionChoice::Exact(id.clone()));
    let found = world.ports.skills.revision(&skill.tenant, &skill.id, &choice).await?;
    found.ok_or_else(|| Refusal::new(Code::RevisionNotFound, "The skill has no such revision."))
}

/// The path of the script that a caller names.
///
/// # Errors
/// `SCRIPT_NOT_FOUND` or `INVALID_COMPONENT_TYPE`.
pub(crate) fn find_script(manifest: &Manifest, wanted: &str) -> Result<LogicalPath, Refusal> {
    let (path, entry) = component(manifest, wanted, || candidates(manifest.scripts.keys()))?;
    if entry.component_type == ComponentType::Script {
        return Ok(path.clone());
    }
    let message = format!("{path} is a {}, not a script.", entry.component_type.as_str());
    let refusal = Refusal::new(Code::InvalidComponentType, message);
    Err(refusal.with("candidates", candidates(manifest.scripts.keys())))
}

/// The file that a caller names, whatever it is for.
///
/// # Errors
/// `SCRIPT_NOT_FOUND`.
pub(crate) fn find_component<'m>(
    manifest: &'m Manifest,
    wanted: &str,
) -> Result<(&'m LogicalPath, &'m FileEntry), Refusal> {
    component(manifest, wanted, || candidates(manifest.files.keys()))
}

fn component<'m>(
    manifest: &'m Manifest,
    wanted: &str,
    candidates: impl Fn() -> Value,
) -> Result<(&'m LogicalPath, &'m FileEntry), Refusal> {
    let none = || Refusal::new(Code::ScriptNotFound, "The revision has no such component.");
    manifest.find(wanted).ok_or_else(|| none().with("candidates", candidates()))
}

fn candidates<'p>(paths: impl Iterator<Item = &'p LogicalPath>) -> Value {
    json!(paths.map(LogicalPath::as_str).take(CANDIDATES).collect::<Vec<_>>())
}
