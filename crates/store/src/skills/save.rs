//! Saving a revision: the skill when its slug is new, the files that no revision had yet, the revision
//! and its audit entry, together; or nothing, when the skill has an equal revision.

use async_trait::async_trait;
use belljar_core::audit::AuditDraft;
use belljar_core::ports::{StoreError, Stored};
use belljar_core::skill::{Expectation, Revision, RevisionDraft, SaveAnswer, Saved, Skill};
use belljar_executor::Digest;
use serde_json::json;

use super::{index, publish};
use crate::cause::store_error;
use crate::row;
use crate::writer::{Change, Transaction, same_tenant};

pub(super) struct Save {
    draft: RevisionDraft,
    manifest: String,
    digest: Digest,
    audit: AuditDraft,
}

impl Save {
    /// The change, once the files were found to be those of the manifest.
    pub(super) fn checked(draft: RevisionDraft, audit: AuditDraft) -> Stored<Self> {
        same_tenant(&draft.tenant, &audit)?;
        let (listed, files) = (&draft.manifest.files, &draft.files);
        let unlisted = files.iter().map(|(path, _)| path).find(|path| !listed.contains_key(path));
        let other = listed.iter().find_map(|(path, entry)| {
            let is_it = files
                .get(path)
                .is_some_and(|bytes| bytes.len() as u64 == entry.size && Digest::of(bytes) == entry.sha256);
            (!is_it).then_some(path)
        });
        if let Some(path) = unlisted.or(other) {
            return Err(StoreError::unavailable(format!("file {path} is not the one that the manifest lists")));
        }
        let manifest = draft.manifest.canonical_json().map_err(StoreError::unavailable)?;
        let digest = Digest::of(manifest.as_bytes());
        Ok(Self { draft, manifest, digest, audit })
    }

    async fn existing(&self, transaction: &mut Transaction<'_>) -> Stored<Option<Skill>> {
        let draft = &self.draft;
        let existing = sqlx::query("select * from skill where tenant = ? and owner = ? and slug = ?")
            .bind(draft.tenant.as_str())
            .bind(draft.owner.to_string())
            .bind(draft.slug.as_str())
            .fetch_optional(transaction.connection())
            .await
            .map_err(store_error)?;
        existing.as_ref().map(super::skill).transpose()
    }

    /// Whether what has to be so is so.
    async fn is_as_expected(&self, transaction: &mut Transaction<'_>, existing: Option<&Skill>) -> Stored<bool> {
        let latest = match (&self.draft.expectation, existing) {
            (Expectation::Anything, _) | (Expectation::NewSkill, None) => return Ok(true),
            (Expectation::NewSkill, Some(_)) | (Expectation::Latest(_), None) => return Ok(false),
            (Expectation::Latest(latest), Some(_)) => latest,
        };
        let found = sqlx::query("select id from revision where tenant = ? and skill = ? order by number desc limit 1")
            .bind(self.draft.tenant.as_str())
            .bind(existing.map_or("", |skill| skill.id.as_str()))
            .fetch_optional(transaction.connection())
            .await
            .map_err(store_error)?;
        Ok(match found {
            Some(found) => row::text(&found, "id")? == latest.as_str(),
            None => false,
        })
    }

    async fn new_skill(&self, transaction: &mut Transaction<'_>) -> Stored<Skill> {
        let draft = &self.draft;
        let made = sqlx::query(
            "insert into skill (tenant, id, owner, slug, description, created_at) values (?, ?, ?, ?, ?, ?)
             returning *",
        )
        .bind(draft.tenant.as_str())
        .bind(draft.new_skill_id.as_str())
        .bind(draft.owner.to_string())
        .bind(draft.slug.as_str())
        .bind(draft.description.as_str())
        .bind(draft.created_at.microseconds())
        .fetch_one(transaction.connection())
        .await
        .map_err(store_error)?;
        super::skill(&made)
    }

    async fn equal_revision(&self, transaction: &mut Transaction<'_>, skill: &Skill) -> Stored<Option<Revision>> {
        let found = sqlx::query("select * from revision where tenant = ? and skill = ? and manifest_digest = ?")
            .bind(self.draft.tenant.as_str())
            .bind(skill.id.as_str())
            .bind(row::bytes_of(&self.digest))
            .fetch_optional(transaction.connection())
            .await
            .map_err(store_error)?;
        found.as_ref().map(super::revision).transpose()
    }

    async fn new_revision(&self, transaction: &mut Transaction<'_>, skill: &Skill) -> Stored<Revision> {
        let draft = &self.draft;
        let made = sqlx::query(
            "insert into revision (tenant, id, skill, number, manifest, manifest_digest, created_by, created_at)
             values (?1, ?2, ?3,
                 1 + (select coalesce(max(number), 0) from revision where tenant = ?1 and skill = ?3),
                 ?4, ?5, ?6, ?7)
             returning *",
        )
        .bind(draft.tenant.as_str())
        .bind(draft.new_revision_id.as_str())
        .bind(skill.id.as_str())
        .bind(self.manifest.as_str())
        .bind(row::bytes_of(&self.digest))
        .bind(draft.created_by.as_str())
        .bind(draft.created_at.microseconds())
        .fetch_one(transaction.connection())
        .await
        .map_err(store_error)?;
        sqlx::query("update skill set description = ? where tenant = ? and id = ?")
            .bind(draft.description.as_str())
            .bind(draft.tenant.as_str())
            .bind(skill.id.as_str())
            .execute(transaction.connection())
            .await
            .map_err(store_error)?;
        super::revision(&made)
    }

    async fn files(&self, transaction: &mut Transaction<'_>) -> Stored<()> {
        let draft = &self.draft;
        for (path, entry) in &draft.manifest.files {
            let bytes = draft.files.get(path).map_or_else(Vec::new, |bytes| bytes.to_vec());
            sqlx::query("insert into blob (tenant, sha256, bytes) values (?, ?, ?) on conflict do nothing")
                .bind(draft.tenant.as_str())
                .bind(row::bytes_of(&entry.sha256))
                .bind(bytes)
                .execute(transaction.connection())
                .await
                .map_err(store_error)?;
            sqlx::query("insert into revision_file (tenant, revision, path, sha256) values (?, ?, ?, ?)")
                .bind(draft.tenant.as_str())
                .bind(draft.new_revision_id.as_str())
                .bind(path.as_str())
                .bind(row::bytes_of(&entry.sha256))
                .execute(transaction.connection())
                .await
                .map_err(store_error)?;
        }
        Ok(())
    }
}

#[async_trait]
impl Change for Save {
    type Answer = SaveAnswer;

    async fn apply(self, transaction: &mut Transaction<'_>) -> Stored<SaveAnswer> {
        let existing = self.existing(transaction).await?;
        if existing.as_ref().is_some_and(|skill| skill.archived) {
            return Ok(SaveAnswer::Archived);
        }
        if !self.is_as_expected(transaction, existing.as_ref()).await? {
            return Ok(SaveAnswer::Conflict);
        }
        let mut skill = match existing {
            Some(skill) => skill,
            None => self.new_skill(transaction).await?,
        };
        let equal = self.equal_revision(transaction, &skill).await?;
        let is_new = equal.is_none();
        let revision = match equal {
            Some(revision) => revision,
            None => {
                let revision = self.new_revision(transaction, &skill).await?;
                self.files(transaction).await?;
                skill.description.clone_from(&self.draft.description);
                revision
            }
        };
        let publishes = self.draft.publish && skill.published.as_ref() != Some(&revision.id);
        if publishes {
            publish::point(transaction, &self.draft.tenant, &skill.id, &revision.id).await?;
            skill.published = Some(revision.id.clone());
        }
        if is_new {
            index::refresh(transaction.connection(), &self.draft.tenant, &skill.id).await?;
        }
        if is_new || publishes {
            let audit = self.audit.with_fact("revision_id", json!(revision.id)).with_fact("publish", json!(publishes));
            transaction.append(audit).await?;
        }
        Ok(SaveAnswer::Saved(Box::new(Saved { skill, revision, is_new })))
    }
}
