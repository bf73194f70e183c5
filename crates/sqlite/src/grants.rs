//! Grants.

use async_trait::async_trait;
use belljar_core::audit::{AuditDraft, AuditEntry};
use belljar_core::grant::{Grant, GrantTarget};
use belljar_core::ids::{GrantId, SkillId};
use belljar_core::ports::{Grants, Stored};
use belljar_core::time::Timestamp;
use belljar_executor::{Digest, LogicalPath, TenantId};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::error::{damaged, unavailable};
use crate::store::Store;
use crate::writer::{Change, Done, mismatch};

/// Adds a grant or renews the one with the same key.
pub(crate) async fn add(
    connection: &mut SqliteConnection,
    grant: Grant,
    replace: bool,
    draft: AuditDraft,
    entries: &mut Vec<AuditEntry>,
) -> Stored<Grant> {
    let pin = grant.pin.map(|pin| pin.to_string()).unwrap_or_default();
    if replace {
        sqlx::query(
            "update grants set revoked_at = $1 where tenant = $2 and skill_id = $3 and target = $4 and pin <> $5
             and revoked_at is null and (expires_at is null or expires_at > $1)",
        )
        .bind(grant.granted_at.microseconds())
        .bind(grant.tenant.as_str())
        .bind(grant.skill_id.as_str())
        .bind(grant.target.as_str())
        .bind(&pin)
        .execute(&mut *connection)
        .await
        .map_err(unavailable)?;
    }
    let row = sqlx::query(
        "insert into grants (tenant, id, skill_id, target, pin, granted_by, granted_at, expires_at, revoked_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, null)
         on conflict (tenant, skill_id, target, pin) do update set granted_by = excluded.granted_by,
             granted_at = excluded.granted_at, expires_at = excluded.expires_at, revoked_at = null
         returning *",
    )
    .bind(grant.tenant.as_str())
    .bind(grant.id.as_str())
    .bind(grant.skill_id.as_str())
    .bind(grant.target.as_str())
    .bind(&pin)
    .bind(&grant.granted_by)
    .bind(grant.granted_at.microseconds())
    .bind(grant.expires_at.map(Timestamp::microseconds))
    .fetch_one(&mut *connection)
    .await
    .map_err(unavailable)?;
    let stored = from_row(&row)?;
    entries.push(crate::audit::append(connection, draft).await?);
    Ok(stored)
}

/// Stamps those that are active.
pub(crate) async fn revoke(
    connection: &mut SqliteConnection,
    tenant: &TenantId,
    ids: &[GrantId],
    now: Timestamp,
    draft: AuditDraft,
    entries: &mut Vec<AuditEntry>,
) -> Stored<Vec<Grant>> {
    let mut revoked = Vec::new();
    for id in ids {
        let row = sqlx::query(
            "update grants set revoked_at = $1 where tenant = $2 and id = $3 and revoked_at is null
             and (expires_at is null or expires_at > $1) returning *",
        )
        .bind(now.microseconds())
        .bind(tenant.as_str())
        .bind(id.as_str())
        .fetch_optional(&mut *connection)
        .await
        .map_err(unavailable)?;
        revoked.extend(row.as_ref().map(from_row).transpose()?);
    }
    if !revoked.is_empty() {
        entries.push(crate::audit::append(connection, draft).await?);
    }
    Ok(revoked)
}

fn from_row(row: &SqliteRow) -> Stored<Grant> {
    let text = |column: &str| row.try_get::<String, _>(column).map_err(unavailable);
    let time = |column: &str| row.try_get::<Option<i64>, _>(column).map_err(unavailable);
    let pin = text("pin")?;
    Ok(Grant {
        id: GrantId::new(&text("id")?),
        tenant: TenantId::parse(&text("tenant")?).map_err(|_| damaged("a tenant id is wrong"))?,
        skill_id: SkillId::new(&text("skill_id")?),
        target: GrantTarget::from(text("target")?),
        pin: match pin.as_str() {
            "" => None,
            pin => Some(Digest::parse(pin).ok_or_else(|| damaged("a pin is not a digest"))?),
        },
        granted_by: text("granted_by")?,
        granted_at: Timestamp::from_microseconds(row.try_get("granted_at").map_err(unavailable)?),
        expires_at: time("expires_at")?.map(Timestamp::from_microseconds),
        revoked_at: time("revoked_at")?.map(Timestamp::from_microseconds),
    })
}

#[async_trait]
impl Grants for Store {
    async fn active(
        &self,
        tenant: &TenantId,
        skill: &SkillId,
        path: &LogicalPath,
        now: Timestamp,
    ) -> Stored<Vec<Grant>> {
        let rows = sqlx::query(
            "select * from grants where tenant = $1 and skill_id = $2 and target in ($3, '*') and revoked_at is null
             and (expires_at is null or expires_at > $4)",
        )
        .bind(tenant.as_str())
        .bind(skill.as_str())
        .bind(path.as_str())
        .bind(now.microseconds())
        .fetch_all(self.readers()?)
        .await
        .map_err(unavailable)?;
        rows.iter().map(from_row).collect()
    }

    async fn get(&self, tenant: &TenantId, id: &GrantId) -> Stored<Option<Grant>> {
        let row = sqlx::query("select * from grants where tenant = $1 and id = $2")
            .bind(tenant.as_str())
            .bind(id.as_str())
            .fetch_optional(self.readers()?)
            .await
            .map_err(unavailable)?;
        row.as_ref().map(from_row).transpose()
    }

    async fn list(&self, tenant: &TenantId) -> Stored<Vec<Grant>> {
        let rows = sqlx::query("select * from grants where tenant = $1 order by granted_at desc, id desc")
            .bind(tenant.as_str())
            .fetch_all(self.readers()?)
            .await
            .map_err(unavailable)?;
        rows.iter().map(from_row).collect()
    }

    async fn add(&self, grant: Grant, replace: bool, audit: AuditDraft) -> Stored<Grant> {
        match self.write(Change::Grant { grant: Box::new(grant), replace, audit }).await? {
            Done::Grant(grant) => Ok(*grant),
            _ => Err(mismatch()),
        }
    }

    async fn revoke(
        &self,
        tenant: &TenantId,
        ids: &[GrantId],
        now: Timestamp,
        audit: AuditDraft,
    ) -> Stored<Vec<Grant>> {
        match self.write(Change::Revoke { tenant: tenant.clone(), ids: ids.to_vec(), now, audit }).await? {
            Done::Grants(grants) => Ok(grants),
            _ => Err(mismatch()),
        }
    }
}
