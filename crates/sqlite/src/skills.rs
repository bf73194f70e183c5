//! Skills, revisions and their content.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use belljar_core::audit::{AuditDraft, AuditEntry};
use belljar_core::caller::Owner;
use belljar_core::ids::{RevisionId, SkillId};
use belljar_core::ports::{Skills, Stored};
use belljar_core::skill::{Manifest, Revision, RevisionChoice, RevisionDraft, Saved, Skill};
use belljar_core::time::Timestamp;
use belljar_executor::{Digest, FileTree, SkillName, TenantId};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection, SqliteExecutor};

use crate::error::{damaged, unavailable};
use crate::store::Store;
use crate::writer::{Change, Done, mismatch};

/// Saves a revision, unless the skill has an equal one.
pub(crate) async fn save(
    connection: &mut SqliteConnection,
    draft: RevisionDraft,
    audit: AuditDraft,
    entries: &mut Vec<AuditEntry>,
) -> Stored<Saved> {
    let manifest = draft.manifest.canonical_json().map_err(|_| damaged("a manifest has no JSON form"))?;
    let digest = Digest::of(manifest.as_bytes());
    let existing = find_by_slug(&mut *connection, &draft.tenant, &draft.owner, &draft.slug).await?;
    if let Some(skill) = &existing
        && let Some(revision) = equal_revision(connection, &draft.tenant, &skill.id, digest).await?
    {
        return Ok(Saved { skill: skill.clone(), revision, is_new: false });
    }
    check_files(&draft)?;
    let skill = match existing {
        Some(skill) => describe(connection, skill, &draft.description).await?,
        None => insert_skill(connection, &draft).await?,
    };
    for (_, bytes) in draft.files.iter() {
        insert_blob(connection, bytes).await?;
    }
    let revision = insert_revision(connection, draft, &skill.id, &manifest, digest).await?;
    entries.push(crate::audit::append(connection, audit).await?);
    Ok(Saved { skill, revision, is_new: true })
}

/// The files must be exactly those of the manifest.
fn check_files(draft: &RevisionDraft) -> Stored<()> {
    let listed = draft.manifest.files.iter().map(|(path, file)| (path, file.sha256));
    let given = draft.files.iter().map(|(path, bytes)| (path, Digest::of(bytes)));
    if listed.eq(given) { Ok(()) } else { Err(damaged("a revision's files are not those of its manifest")) }
}

async fn describe(connection: &mut SqliteConnection, mut skill: Skill, description: &str) -> Stored<Skill> {
    sqlx::query("update skills set description = $1 where tenant = $2 and id = $3")
        .bind(description)
        .bind(skill.tenant.as_str())
        .bind(skill.id.as_str())
        .execute(connection)
        .await
        .map_err(unavailable)?;
    description.clone_into(&mut skill.description);
    Ok(skill)
}

async fn insert_skill(connection: &mut SqliteConnection, draft: &RevisionDraft) -> Stored<Skill> {
    sqlx::query(
        "insert into skills (tenant, id, owner, slug, description, created_at) values ($1, $2, $3, $4, $5, $6)",
    )
    .bind(draft.tenant.as_str())
    .bind(draft.new_skill_id.as_str())
    .bind(draft.owner.to_string())
    .bind(draft.slug.as_str())
    .bind(&draft.description)
    .bind(draft.created_at.microseconds())
    .execute(connection)
    .await
    .map_err(unavailable)?;
    Ok(Skill {
        id: draft.new_skill_id.clone(),
        tenant: draft.tenant.clone(),
        owner: draft.owner.clone(),
        slug: draft.slug.clone(),
        description: draft.description.clone(),
        archived: false,
        published: None,
        created_at: draft.created_at,
    })
}

async fn insert_blob(connection: &mut SqliteConnection, bytes: &[u8]) -> Stored<()> {
    sqlx::query("insert into blobs (sha256, bytes) values ($1, $2) on conflict do nothing")
        .bind(Digest::of(bytes).to_string())
        .bind(bytes)
        .execute(connection)
        .await
        .map_err(unavailable)?;
    Ok(())
}

async fn insert_revision(
    connection: &mut SqliteConnection,
    draft: RevisionDraft,
    skill_id: &SkillId,
    manifest: &str,
    digest: Digest,
) -> Stored<Revision> {
    let number: u32 = sqlx::query_scalar(
        "insert into revisions (tenant, id, skill_id, number, manifest, manifest_digest, created_by, created_at)
         values ($1, $2, $3, (select coalesce(max(number), 0) + 1 from revisions where tenant = $1 and skill_id = $3),
                 $4, $5, $6, $7)
         returning number",
    )
    .bind(draft.tenant.as_str())
    .bind(draft.new_revision_id.as_str())
    .bind(skill_id.as_str())
    .bind(manifest)
    .bind(digest.to_string())
    .bind(&draft.created_by)
    .bind(draft.created_at.microseconds())
    .fetch_one(connection)
    .await
    .map_err(unavailable)?;
    Ok(Revision {
        id: draft.new_revision_id,
        skill_id: skill_id.clone(),
        number,
        manifest: draft.manifest,
        manifest_digest: digest,
        created_by: draft.created_by,
        created_at: draft.created_at,
    })
}

async fn find_by_slug(
    executor: impl SqliteExecutor<'_>,
    tenant: &TenantId,
    owner: &Owner,
    slug: &SkillName,
) -> Stored<Option<Skill>> {
    let row = sqlx::query("select * from skills where tenant = $1 and owner = $2 and slug = $3")
        .bind(tenant.as_str())
        .bind(owner.to_string())
        .bind(slug.as_str())
        .fetch_optional(executor)
        .await
        .map_err(unavailable)?;
    row.as_ref().map(skill_from).transpose()
}

async fn equal_revision(
    connection: &mut SqliteConnection,
    tenant: &TenantId,
    skill: &SkillId,
    digest: Digest,
) -> Stored<Option<Revision>> {
    let row = sqlx::query("select * from revisions where tenant = $1 and skill_id = $2 and manifest_digest = $3")
        .bind(tenant.as_str())
        .bind(skill.as_str())
        .bind(digest.to_string())
        .fetch_optional(connection)
        .await
        .map_err(unavailable)?;
    row.as_ref().map(revision_from).transpose()
}

fn skill_from(row: &SqliteRow) -> Stored<Skill> {
    let text = |column: &str| row.try_get::<String, _>(column).map_err(unavailable);
    Ok(Skill {
        id: SkillId::new(&text("id")?),
        tenant: TenantId::parse(&text("tenant")?).map_err(|_| damaged("a tenant id is wrong"))?,
        owner: Owner::try_from(text("owner")?).map_err(damaged)?,
        slug: SkillName::parse(&text("slug")?).map_err(|_| damaged("a slug is wrong"))?,
        description: text("description")?,
        archived: row.try_get("archived").map_err(unavailable)?,
        published: row.try_get::<Option<String>, _>("published").map_err(unavailable)?.map(|id| RevisionId::new(&id)),
        created_at: Timestamp::from_microseconds(row.try_get("created_at").map_err(unavailable)?),
    })
}

fn revision_from(row: &SqliteRow) -> Stored<Revision> {
    let text = |column: &str| row.try_get::<String, _>(column).map_err(unavailable);
    let manifest = text("manifest")?;
    let manifest_digest = Digest::of(manifest.as_bytes());
    if manifest_digest.to_string() != text("manifest_digest")? {
        return Err(damaged("a manifest does not match its digest"));
    }
    let manifest: Manifest = serde_json::from_str(&manifest).map_err(|_| damaged("a manifest cannot be read"))?;
    Ok(Revision {
        id: RevisionId::new(&text("id")?),
        skill_id: SkillId::new(&text("skill_id")?),
        number: row.try_get("number").map_err(unavailable)?,
        manifest,
        manifest_digest,
        created_by: text("created_by")?,
        created_at: Timestamp::from_microseconds(row.try_get("created_at").map_err(unavailable)?),
    })
}

#[async_trait]
impl Skills for Store {
    async fn find_by_slug(&self, tenant: &TenantId, owners: &[Owner], slug: &SkillName) -> Stored<Option<Skill>> {
        for owner in owners {
            if let Some(skill) = find_by_slug(self.readers()?, tenant, owner, slug).await? {
                return Ok(Some(skill));
            }
        }
        Ok(None)
    }

    async fn find_by_id(&self, tenant: &TenantId, id: &SkillId) -> Stored<Option<Skill>> {
        let row = sqlx::query("select * from skills where tenant = $1 and id = $2")
            .bind(tenant.as_str())
            .bind(id.as_str())
            .fetch_optional(self.readers()?)
            .await
            .map_err(unavailable)?;
        row.as_ref().map(skill_from).transpose()
    }

    async fn list(&self, tenant: &TenantId, owners: &[Owner]) -> Stored<Vec<Skill>> {
        let owners: Vec<_> = owners.iter().map(ToString::to_string).collect();
        let owners = serde_json::to_string(&owners).map_err(|_| damaged("an owner has no JSON form"))?;
        let rows = sqlx::query(
            "select * from skills where tenant = $1 and owner in (select value from json_each($2)) order by slug, owner",
        )
        .bind(tenant.as_str())
        .bind(owners)
        .fetch_all(self.readers()?)
        .await
        .map_err(unavailable)?;
        rows.iter().map(skill_from).collect()
    }

    async fn revision(&self, tenant: &TenantId, skill: &SkillId, choice: &RevisionChoice) -> Stored<Option<Revision>> {
        let query = match choice {
            RevisionChoice::Exact(id) => {
                sqlx::query("select * from revisions where tenant = $1 and skill_id = $2 and id = $3")
                    .bind(tenant.as_str())
                    .bind(skill.as_str())
                    .bind(id.as_str())
            }
            RevisionChoice::Current => sqlx::query(
                "select r.* from revisions r join skills s on s.tenant = r.tenant and s.id = r.skill_id
                 where r.tenant = $1 and r.skill_id = $2 and (s.published is null or s.published = r.id)
                 order by r.number desc limit 1",
            )
            .bind(tenant.as_str())
            .bind(skill.as_str()),
        };
        let row = query.fetch_optional(self.readers()?).await.map_err(unavailable)?;
        row.as_ref().map(revision_from).transpose()
    }

    async fn revisions(&self, tenant: &TenantId, skill: &SkillId) -> Stored<Vec<Revision>> {
        let rows = sqlx::query("select * from revisions where tenant = $1 and skill_id = $2 order by number desc")
            .bind(tenant.as_str())
            .bind(skill.as_str())
            .fetch_all(self.readers()?)
            .await
            .map_err(unavailable)?;
        rows.iter().map(revision_from).collect()
    }

    async fn files(&self, tenant: &TenantId, revision: &RevisionId) -> Stored<FileTree> {
        let readers = self.readers()?;
        let row = sqlx::query("select * from revisions where tenant = $1 and id = $2")
            .bind(tenant.as_str())
            .bind(revision.as_str())
            .fetch_optional(readers)
            .await
            .map_err(unavailable)?;
        let row = row.ok_or_else(|| damaged("a revision is gone"))?;
        let manifest = revision_from(&row)?.manifest;
        let mut files = BTreeMap::new();
        for (path, file) in manifest.files {
            let bytes: Option<Vec<u8>> = sqlx::query_scalar("select bytes from blobs where sha256 = $1")
                .bind(file.sha256.to_string())
                .fetch_optional(readers)
                .await
                .map_err(unavailable)?;
            let bytes = bytes.filter(|bytes| Digest::of(bytes) == file.sha256);
            let bytes = bytes.ok_or_else(|| damaged("a file's content is gone or does not match its digest"))?;
            files.insert(path, Arc::from(bytes));
        }
        Ok(FileTree::new(files))
    }

    async fn save(&self, draft: RevisionDraft, audit: AuditDraft) -> Stored<Saved> {
        match self.write(Change::Save(Box::new(draft), audit)).await? {
            Done::Saved(saved) => Ok(*saved),
            _ => Err(mismatch()),
        }
    }
}
