//! Saving.

use std::sync::Arc;

use belljar_core::audit::AuditDraft;
use belljar_core::ids::SkillId;
use belljar_core::ports::{StoreError, Stored};
use belljar_core::skill::{Expectation, Revision, RevisionDraft, SaveAnswer, Saved, Skill};
use belljar_executor::{Digest, TenantId};
use serde_json::json;

use super::{Change, Data, Defect};

impl Data {
    /// The revisions of a skill, newest first.
    fn revisions_of(&self, tenant: &TenantId, skill: &SkillId) -> impl Iterator<Item = &Revision> {
        let all = self.revisions.iter().rev();
        all.filter(move |(of, revision)| of == tenant && revision.skill_id == *skill).map(|(_, revision)| revision)
    }
}

pub(super) fn save(change: &mut Change, draft: &RevisionDraft, audit: AuditDraft) -> Stored<SaveAnswer> {
    if !has_the_files(draft) && !change.has(Defect::TrustsTheManifest) {
        return Err(StoreError::unavailable("the files are not those of the manifest"));
    }
    let known = existing(change, &change.known, draft);
    if known.as_ref().is_some_and(|skill| skill.archived) && !change.has(Defect::SavesIntoTheArchive) {
        return Ok(SaveAnswer::Archived);
    }
    if !is_as_expected(change, draft, known.as_ref()) {
        return Ok(SaveAnswer::Conflict);
    }
    let digest = Digest::of(draft.manifest.canonical_json().unwrap().as_bytes());
    let equal = known.as_ref().and_then(|skill| equal_revision(change, &draft.tenant, skill, digest));
    let mut skill = existing(change, &change.data, draft).unwrap_or_else(|| new_skill(change, draft));
    let is_new = equal.is_none();
    let revision = match equal {
        Some(revision) => revision,
        None => {
            if !change.has(Defect::KeepsTheFirstDescription) {
                skill.description.clone_from(&draft.description);
            }
            new_revision(change, draft, &skill, digest)
        }
    };
    let may_publish = is_new || !change.has(Defect::PublishesOnlyWhatIsNew);
    let publishes = draft.publish && may_publish && skill.published.as_ref() != Some(&revision.id);
    if publishes {
        skill.published = Some(revision.id.clone());
    }
    if let Some(stored) = change.data.skills.iter_mut().find(|other| other.id == skill.id) {
        stored.clone_from(&skill);
    }
    if (is_new || publishes) && !change.has(Defect::SavesInSilence) {
        let tells = !change.has(Defect::TellsNoFacts);
        let told = |audit: AuditDraft| audit.with_fact("revision_id", json!(revision.id));
        let audit = if tells { told(audit).with_fact("publish", json!(publishes)) } else { audit };
        change.append_for(&draft.tenant, audit)?;
    }
    Ok(SaveAnswer::Saved(Box::new(Saved { skill, revision, is_new })))
}

fn has_the_files(draft: &RevisionDraft) -> bool {
    let listed = &draft.manifest.files;
    let is_it = |(path, entry): (&_, &belljar_core::skill::FileEntry)| {
        draft.files.get(path).is_some_and(|bytes| Digest::of(bytes) == entry.sha256)
    };
    listed.len() == draft.files.len() && listed.iter().all(is_it)
}

fn existing(change: &Change, data: &Data, draft: &RevisionDraft) -> Option<Skill> {
    let is_in = |skill: &Skill| skill.tenant == draft.tenant || change.has(Defect::HasOneNameForAllTenants);
    let mut skills = data.skills.iter();
    skills.find(|skill| is_in(skill) && (&skill.owner, &skill.slug) == (&draft.owner, &draft.slug)).cloned()
}

fn is_as_expected(change: &Change, draft: &RevisionDraft, known: Option<&Skill>) -> bool {
    match (&draft.expectation, known) {
        (Expectation::Anything, _) | (Expectation::NewSkill, None) => true,
        (Expectation::NewSkill, Some(_)) => change.has(Defect::CreatesWhatIsThere),
        (Expectation::Latest(_), None) => false,
        (Expectation::Latest(wanted), Some(skill)) => {
            let latest = change.known.revisions_of(&draft.tenant, &skill.id).next().map(|revision| &revision.id);
            let published = skill.published.as_ref().filter(|_| change.has(Defect::UpdatesFromThePublished));
            published.or(latest) == Some(wanted) || change.has(Defect::UpdatesFromAnyRevision)
        }
    }
}

fn equal_revision(change: &Change, tenant: &TenantId, skill: &Skill, digest: Digest) -> Option<Revision> {
    let most = if change.has(Defect::ComparesManifestsWithTheLatest) { 1 } else { usize::MAX };
    let mut looked_at = change.known.revisions_of(tenant, &skill.id).take(most);
    looked_at.find(|revision| revision.manifest_digest == digest).cloned()
}

fn new_skill(change: &mut Change, draft: &RevisionDraft) -> Skill {
    let skill = Skill {
        id: draft.new_skill_id.clone(),
        tenant: draft.tenant.clone(),
        owner: draft.owner.clone(),
        slug: draft.slug.clone(),
        description: draft.description.clone(),
        archived: false,
        published: None,
        created_at: draft.created_at,
    };
    change.data.skills.push(skill.clone());
    skill
}

fn new_revision(change: &mut Change, draft: &RevisionDraft, skill: &Skill, digest: Digest) -> Revision {
    let counted = if change.has(Defect::NumbersItsOwnSaves) { &change.own } else { &change.data };
    let number = counted.revisions_of(&draft.tenant, &skill.id).next().map_or(1, |latest| latest.number + 1);
    let created_by = if change.has(Defect::ForgetsWhoSaved) { String::new() } else { draft.created_by.clone() };
    let revision = Revision {
        id: draft.new_revision_id.clone(),
        skill_id: skill.id.clone(),
        number,
        manifest: draft.manifest.clone(),
        manifest_digest: digest,
        created_by,
        created_at: draft.created_at,
    };
    let key = (draft.tenant.clone(), revision.id.clone());
    let files = draft.manifest.files.iter().map(|(path, entry)| (path.clone(), entry.sha256));
    change.data.files.insert(key, files.collect());
    for (_, bytes) in draft.files.iter() {
        let kept = match change.has(Defect::KeepsFilesAsText) {
            true => Arc::from(String::from_utf8_lossy(bytes).as_bytes()),
            false => bytes.clone(),
        };
        change.data.contents.insert((draft.tenant.clone(), Digest::of(bytes)), kept);
    }
    change.data.revisions.push((draft.tenant.clone(), revision.clone()));
    revision
}
