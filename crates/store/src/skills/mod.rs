//! Skills and their immutable revisions. Files are kept once for each tenant and digest.

mod archive;
mod files;
mod index;
mod publish;
mod purge;
mod save;
mod search;

pub(crate) use self::index::catch_up;
use async_trait::async_trait;
use belljar_core::audit::AuditDraft;
use belljar_core::caller::Owner;
use belljar_core::ids::{RevisionId, SkillId};
use belljar_core::ports::{Skills, StoreError, Stored};
use belljar_core::skill::{FoundSkill, Revision, RevisionChoice, RevisionDraft, SaveAnswer, SearchQuery, Skill};
use belljar_executor::{Digest, FileTree, SkillName, TenantId};
use sqlx::sqlite::SqliteRow;

use crate::cause::store_error;
use crate::store::Store;
use crate::{json, row};

#[async_trait]
impl Skills for Store {
    async fn find_by_slug(&self, tenant: &TenantId, owners: &[Owner], slug: &SkillName) -> Stored<Option<Skill>> {
        let mut reader = self.reader().await?;
        let found = sqlx::query(
            "select skill.* from json_each(?) as wanted
             join skill on skill.tenant = ? and skill.owner = wanted.value and skill.slug = ?
             order by wanted.key limit 1",
        )
        .bind(json::write(&owners)?)
        .bind(tenant.as_str())
        .bind(slug.as_str())
        .fetch_optional(reader.connection())
        .await
        .map_err(store_error)?;
        reader.give_back();
        found.as_ref().map(skill).transpose()
    }

    async fn find_by_id(&self, tenant: &TenantId, id: &SkillId) -> Stored<Option<Skill>> {
        let mut reader = self.reader().await?;
        let found = sqlx::query("select * from skill where tenant = ? and id = ?")
            .bind(tenant.as_str())
            .bind(id.as_str())
            .fetch_optional(reader.connection())
            .await
            .map_err(store_error)?;
        reader.give_back();
        found.as_ref().map(skill).transpose()
    }

    async fn list(&self, tenant: &TenantId, owners: &[Owner]) -> Stored<Vec<Skill>> {
        let mut reader = self.reader().await?;
        let rows = sqlx::query(
            "select * from skill where tenant = ? and owner in (select value from json_each(?)) order by slug, owner",
        )
        .bind(tenant.as_str())
        .bind(json::write(&owners)?)
        .fetch_all(reader.connection())
        .await
        .map_err(store_error)?;
        reader.give_back();
        rows.iter().map(skill).collect()
    }

    async fn search(
        &self,
        tenant: &TenantId,
        owners: &[Owner],
        query: Option<&SearchQuery>,
        limit: u32,
    ) -> Stored<Vec<FoundSkill>> {
        search::find(self, tenant, owners, query, limit).await
    }

    async fn revision(&self, tenant: &TenantId, skill: &SkillId, choice: &RevisionChoice) -> Stored<Option<Revision>> {
        let mut reader = self.reader().await?;
        let query = match choice {
            RevisionChoice::Exact(id) => {
                sqlx::query("select * from revision where tenant = ?1 and skill = ?2 and id = ?3")
                    .bind(tenant.as_str())
                    .bind(skill.as_str())
                    .bind(id.as_str())
            }
            RevisionChoice::Latest => {
                sqlx::query("select * from revision where tenant = ?1 and skill = ?2 order by number desc limit 1")
                    .bind(tenant.as_str())
                    .bind(skill.as_str())
            }
            RevisionChoice::Current => sqlx::query(
                "select revision.* from revision
                 join skill on skill.tenant = revision.tenant and skill.id = revision.skill
                 where revision.tenant = ?1 and revision.skill = ?2
                 order by revision.id is skill.published_revision desc, revision.number desc limit 1",
            )
            .bind(tenant.as_str())
            .bind(skill.as_str()),
        };
        let found = query.fetch_optional(reader.connection()).await.map_err(store_error)?;
        reader.give_back();
        found.as_ref().map(revision).transpose()
    }

    async fn revisions(&self, tenant: &TenantId, skill: &SkillId) -> Stored<Vec<Revision>> {
        let mut reader = self.reader().await?;
        let rows = sqlx::query("select * from revision where tenant = ? and skill = ? order by number desc")
            .bind(tenant.as_str())
            .bind(skill.as_str())
            .fetch_all(reader.connection())
            .await
            .map_err(store_error)?;
        reader.give_back();
        rows.iter().map(revision).collect()
    }

    async fn files(&self, tenant: &TenantId, revision: &RevisionId) -> Stored<FileTree> {
        files::read(self, tenant, revision).await
    }

    async fn save(&self, draft: RevisionDraft, audit: AuditDraft) -> Stored<SaveAnswer> {
        self.change(save::Save::checked(draft, audit)?).await
    }

    async fn publish(
        &self,
        tenant: &TenantId,
        skill: &SkillId,
        revision: &RevisionId,
        audit: AuditDraft,
    ) -> Stored<Option<bool>> {
        self.change(publish::Publish::checked(tenant, skill, revision, audit)?).await
    }

    async fn set_archived(
        &self,
        tenant: &TenantId,
        skill: &SkillId,
        archived: bool,
        audit: AuditDraft,
    ) -> Stored<bool> {
        self.change(archive::Archive::checked(tenant, skill, archived, audit)?).await
    }

    async fn purge(&self, tenant: &TenantId, skill: &SkillId, audit: AuditDraft) -> Stored<bool> {
        self.change(purge::Purge::checked(tenant, skill, audit)?).await
    }
}

fn skill(found: &SqliteRow) -> Stored<Skill> {
    Ok(Skill {
        id: SkillId::new(&row::text(found, "id")?),
        tenant: row::tenant(found, "tenant")?,
        owner: row::parsed("owner", Owner::try_from(row::text(found, "owner")?))?,
        slug: row::parsed("slug", SkillName::parse(&row::text(found, "slug")?))?,
        description: row::text(found, "description")?,
        archived: row::optional_time(found, "archived_at")?.is_some(),
        published: row::optional_text(found, "published_revision")?.map(|id| RevisionId::new(&id)),
        created_at: row::time(found, "created_at")?,
    })
}

fn revision(found: &SqliteRow) -> Stored<Revision> {
    let id = RevisionId::new(&row::text(found, "id")?);
    let manifest = row::text(found, "manifest")?;
    let manifest_digest = row::digest(found, "manifest_digest")?;
    if Digest::of(manifest.as_bytes()) != manifest_digest {
        return Err(StoreError::Damaged(format!("the manifest of revision {id} does not match its digest")));
    }
    Ok(Revision {
        id,
        skill_id: SkillId::new(&row::text(found, "skill")?),
        number: row::number(found, "number")?,
        manifest: json::read("a manifest", &manifest)?,
        manifest_digest,
        created_by: row::text(found, "created_by")?,
        created_at: row::time(found, "created_at")?,
    })
}
