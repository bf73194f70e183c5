//! What search reads: one document for each skill, the text of its current revision.

use belljar_core::ids::SkillId;
use belljar_core::ports::Stored;
use belljar_core::skill::instructions;
use belljar_executor::{Digest, LogicalPath, TenantId};
use sqlx::{Row, SqliteConnection};

use crate::cause::store_error;
use crate::row;

/// The tenant as one word of letters and digits.
pub(super) fn place(tenant: &TenantId) -> String {
    format!("t{}", Digest::of(tenant.as_str().as_bytes()).lower_hex())
}

/// Brings a skill's document up to its current revision: in the same transaction as whatever changed it.
pub(super) async fn refresh(connection: &mut SqliteConnection, tenant: &TenantId, skill: &SkillId) -> Stored<()> {
    let current = sqlx::query(
        "select revision.*, document.id as document, document.revision is revision.id as is_indexed, blob.bytes as text
         from revision
         join skill on skill.tenant = revision.tenant and skill.id = revision.skill
         left join search_document as document on document.tenant = skill.tenant and document.skill = skill.id
         left join revision_file as file
             on file.tenant = revision.tenant and file.revision = revision.id and file.path = 'SKILL.md'
         left join blob on blob.tenant = file.tenant and blob.sha256 = file.sha256
         where revision.tenant = ? and revision.skill = ?
         order by revision.id is skill.published_revision desc, revision.number desc limit 1",
    )
    .bind(tenant.as_str())
    .bind(skill.as_str())
    .fetch_optional(&mut *connection)
    .await
    .map_err(store_error)?;
    let Some(current) = current else { return Ok(()) };
    if current.try_get::<bool, _>("is_indexed").map_err(store_error)? {
        return Ok(());
    }
    forget(connection, tenant, skill).await?;
    let revision = super::revision(&current)?;
    let text: Option<Vec<u8>> = current.try_get("text").map_err(store_error)?;
    let files: Vec<_> = revision.manifest.files.keys().map(LogicalPath::as_str).collect();
    let id: i64 =
        sqlx::query_scalar("insert into search_document (tenant, skill, revision) values (?, ?, ?) returning id")
            .bind(tenant.as_str())
            .bind(skill.as_str())
            .bind(revision.id.as_str())
            .fetch_one(&mut *connection)
            .await
            .map_err(store_error)?;
    sqlx::query(
        "insert into search_text (rowid, place, name, description, instructions, files) values (?, ?, ?, ?, ?, ?)",
    )
    .bind(id)
    .bind(place(tenant))
    .bind(revision.manifest.name.as_str())
    .bind(revision.manifest.description.as_str())
    .bind(text.as_deref().map(instructions).unwrap_or_default())
    .bind(files.join("\n"))
    .execute(connection)
    .await
    .map(drop)
    .map_err(store_error)
}

/// Takes a skill's document away.
pub(super) async fn forget(connection: &mut SqliteConnection, tenant: &TenantId, skill: &SkillId) -> Stored<()> {
    for statement in [
        "delete from search_text where rowid in (select id from search_document where tenant = ? and skill = ?)",
        "delete from search_document where tenant = ? and skill = ?",
    ] {
        sqlx::query(statement)
            .bind(tenant.as_str())
            .bind(skill.as_str())
            .execute(&mut *connection)
            .await
            .map_err(store_error)?;
    }
    Ok(())
}

/// Makes the documents of skills that were saved before there were any.
pub(crate) async fn catch_up(connection: &mut SqliteConnection) -> Stored<()> {
    let missing = sqlx::query(
        "select skill.tenant, skill.id from skill
         where not exists (
             select 1 from search_document as document
             where document.tenant = skill.tenant and document.skill = skill.id)",
    )
    .fetch_all(&mut *connection)
    .await
    .map_err(store_error)?;
    for found in &missing {
        let skill = SkillId::new(&row::text(found, "id")?);
        refresh(connection, &row::tenant(found, "tenant")?, &skill).await?;
    }
    Ok(())
}
