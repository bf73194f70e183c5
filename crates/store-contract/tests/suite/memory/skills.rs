//! Skills.

use std::collections::BTreeMap;

use async_trait::async_trait;
use belljar_core::audit::AuditDraft;
use belljar_core::caller::Owner;
use belljar_core::ids::{RevisionId, SkillId};
use belljar_core::ports::{Skills, StoreError, Stored};
use belljar_core::skill::{FoundSkill, Revision, RevisionChoice, RevisionDraft, SaveAnswer, SearchQuery, Skill};
use belljar_executor::{FileTree, SkillName, TenantId};
use serde_json::json;

use super::{Change, Defect, Handle, save};

impl Handle {
    fn skills(&self, tenant: &TenantId, choose: impl Fn(&Skill) -> bool) -> Vec<Skill> {
        let reads = |skill: &Skill| skill.tenant == *tenant || self.has(Defect::ReadsSkillsOfAllTenants);
        self.read(|data| data.skills.iter().filter(|skill| reads(skill) && choose(skill)).cloned().collect())
    }
}

impl Change {
    fn skill(&mut self, tenant: &TenantId, id: &SkillId) -> Option<&mut Skill> {
        let all = self.has(Defect::ChangesSkillsOfAllTenants);
        self.data.skills.iter_mut().find(|skill| (skill.tenant == *tenant || all) && skill.id == *id)
    }
}

/// Takes the skill and what only it has.
fn take(change: &mut Change, tenant: &TenantId, skill: &SkillId) {
    let takes_shared = change.has(Defect::PurgesSharedFiles);
    let takes_revisions = !change.has(Defect::PurgesNoRevisions);
    let takes_grants = change.has(Defect::PurgesGrants);
    let data = &mut change.data;
    data.skills.retain(|other| other.id != *skill);
    let mut gone = Vec::new();
    if takes_revisions {
        let is_its = |of: &TenantId, revision: &Revision| of == tenant && revision.skill_id == *skill;
        let ids = data.revisions.iter().filter(|(of, revision)| is_its(of, revision));
        for id in ids.map(|(_, revision)| revision.id.clone()) {
            gone.extend(data.files.remove(&(tenant.clone(), id)).into_iter().flat_map(BTreeMap::into_values));
        }
        data.revisions.retain(|(of, revision)| !is_its(of, revision));
    }
    for digest in gone {
        let mut kept = data.files.iter().filter(|((of, _), _)| of == tenant).flat_map(|(_, files)| files.values());
        if takes_shared || !kept.any(|other| *other == digest) {
            data.contents.remove(&(tenant.clone(), digest));
        }
    }
    if takes_grants {
        data.grants.clear();
    }
}

#[async_trait]
impl Skills for Handle {
    async fn find_by_slug(&self, tenant: &TenantId, owners: &[Owner], slug: &SkillName) -> Stored<Option<Skill>> {
        let place = |skill: &Skill| owners.iter().position(|owner| *owner == skill.owner);
        let mut found = self.skills(tenant, |skill| skill.slug == *slug && place(skill).is_some());
        if !self.has(Defect::FindsTheOldest) {
            found.sort_by_key(place);
        }
        Ok(found.into_iter().next())
    }

    async fn find_by_id(&self, tenant: &TenantId, id: &SkillId) -> Stored<Option<Skill>> {
        let finds = |skill: &Skill| !self.has(Defect::FindsPersonalSkills) || matches!(skill.owner, Owner::Personal(_));
        Ok(self.skills(tenant, |skill| skill.id == *id && finds(skill)).pop())
    }

    async fn list(&self, tenant: &TenantId, owners: &[Owner]) -> Stored<Vec<Skill>> {
        let mut skills = self.skills(tenant, |skill| owners.contains(&skill.owner));
        if !self.has(Defect::ListsSkillsById) {
            skills.sort_by_key(|skill| (skill.slug.clone(), skill.owner.clone()));
        }
        Ok(skills)
    }

    async fn search(
        &self,
        tenant: &TenantId,
        owners: &[Owner],
        query: Option<&SearchQuery>,
        limit: u32,
    ) -> Stored<Vec<FoundSkill>> {
        Ok(self.found(tenant, owners, query, limit))
    }

    async fn revision(&self, tenant: &TenantId, skill: &SkillId, choice: &RevisionChoice) -> Stored<Option<Revision>> {
        let published = self.skills(tenant, |other| other.id == *skill).pop().and_then(|skill| skill.published);
        let published = published.filter(|_| !self.has(Defect::RunsTheLatest));
        let mut revisions = self.revisions(tenant, skill).await?.into_iter();
        Ok(match (choice, &published) {
            (RevisionChoice::Exact(id), _) | (RevisionChoice::Current, Some(id)) => {
                revisions.find(|revision| revision.id == *id)
            }
            (RevisionChoice::Current, None) | (RevisionChoice::Latest, _) => revisions.next(),
        })
    }

    async fn revisions(&self, tenant: &TenantId, skill: &SkillId) -> Stored<Vec<Revision>> {
        let is_its = |of: &TenantId, revision: &Revision| of == tenant && revision.skill_id == *skill;
        Ok(self.read(|data| {
            let its = data.revisions.iter().rev().filter(|(of, revision)| is_its(of, revision));
            its.map(|(_, revision)| revision.clone()).collect()
        }))
    }

    async fn files(&self, tenant: &TenantId, revision: &RevisionId) -> Stored<FileTree> {
        self.read(|data| {
            let Some(files) = data.files.get(&(tenant.clone(), revision.clone())) else {
                let nothing = FileTree::new(BTreeMap::new());
                let damaged = StoreError::Damaged(format!("there is no revision {revision}"));
                return if self.has(Defect::GivesAnEmptyTree) { Ok(nothing) } else { Err(damaged) };
            };
            let mut tree = BTreeMap::new();
            for (path, digest) in files {
                let bytes = data.contents.get(&(tenant.clone(), *digest));
                let bytes = bytes.ok_or_else(|| StoreError::Damaged(format!("{path} is gone")))?;
                tree.insert(path.clone(), bytes.clone());
            }
            Ok(FileTree::new(tree))
        })
    }

    async fn save(&self, draft: RevisionDraft, audit: AuditDraft) -> Stored<SaveAnswer> {
        self.change(|change| save::save(change, &draft, audit))
    }

    async fn publish(
        &self,
        tenant: &TenantId,
        skill: &SkillId,
        revision: &RevisionId,
        audit: AuditDraft,
    ) -> Stored<Option<bool>> {
        self.change(|change| {
            let any = self.has(Defect::PublishesAnyRevision);
            let mut revisions = change.data.revisions.iter();
            let is_its = |other: &Revision| other.id == *revision && (other.skill_id == *skill || any);
            let is_there = revisions.any(|(_, other)| is_its(other));
            let Some(skill) = change.skill(tenant, skill).filter(|_| is_there) else { return Ok(None) };
            if skill.published.as_ref() == Some(revision) && !self.has(Defect::PublishesAgain) {
                return Ok(Some(false));
            }
            let before = skill.published.replace(revision.clone());
            change.append_for(tenant, audit.with_before(&json!({"published": before})))?;
            Ok(Some(true))
        })
    }

    async fn set_archived(
        &self,
        tenant: &TenantId,
        skill: &SkillId,
        archived: bool,
        audit: AuditDraft,
    ) -> Stored<bool> {
        self.change(|change| {
            let Some(skill) = change.skill(tenant, skill) else { return Ok(false) };
            if skill.archived == archived && !self.has(Defect::ArchivesAgain) {
                return Ok(false);
            }
            skill.archived = archived;
            if self.has(Defect::UnpublishesWhatIsArchived) {
                skill.published = None;
            }
            change.append_for(tenant, audit)?;
            Ok(true)
        })
    }

    async fn purge(&self, tenant: &TenantId, skill: &SkillId, audit: AuditDraft) -> Stored<bool> {
        self.change(|change| {
            if change.skill(tenant, skill).is_none() && !self.has(Defect::PurgesNothing) {
                return Ok(false);
            }
            take(change, tenant, skill);
            change.append_for(tenant, audit)?;
            Ok(true)
        })
    }
}
