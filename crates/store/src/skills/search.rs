//! Search: full text over the current revisions, and the order when nothing is searched for.

use belljar_core::caller::Owner;
use belljar_core::ids::RevisionId;
use belljar_core::ports::Stored;
use belljar_core::skill::{FoundSkill, SearchQuery};
use belljar_executor::TenantId;
use sqlx::Row;
use sqlx::sqlite::SqliteRow;

use super::index;
use crate::cause::store_error;
use crate::store::Store;
use crate::{json, row};

/// A match in the name counts most, then one in the description, then one in a file's name. Scores are negative,
/// the best is the lowest; those that differ by less than a hundredth of it are equal, and use decides.
const MATCHING: &str = "
    with matching as materialized (
        select rowid as document, bm25(search_text, 0.0, 10.0, 4.0, 1.0, 2.0) as score
        from search_text where search_text match ?4
    )
    select skill.*, document.revision as found_revision, usage.ended, usage.succeeded, usage.last_at
    from matching
    join search_document as document on document.id = matching.document
    join skill on skill.tenant = document.tenant and skill.id = document.skill
    left join skill_use as usage on usage.tenant = skill.tenant and usage.skill = skill.id
    where skill.tenant = ?1 and skill.archived_at is null
        and skill.owner in (select value from json_each(?2))
    order by round(matching.score / min(matching.score) over (), 2) desc,
        usage.last_at desc nulls last, usage.succeeded desc, skill.created_at desc, skill.slug
    limit ?3";

const ALL: &str = "
    select skill.*, document.revision as found_revision, usage.ended, usage.succeeded, usage.last_at
    from skill
    join search_document as document on document.tenant = skill.tenant and document.skill = skill.id
    left join skill_use as usage on usage.tenant = skill.tenant and usage.skill = skill.id
    where skill.tenant = ?1 and skill.archived_at is null
        and skill.owner in (select value from json_each(?2))
    order by max(coalesce(usage.last_at, 0), skill.created_at) desc, skill.slug
    limit ?3";

/// The best matches, best first.
pub(super) async fn find(
    store: &Store,
    tenant: &TenantId,
    owners: &[Owner],
    query: Option<&SearchQuery>,
    limit: u32,
) -> Stored<Vec<FoundSkill>> {
    let mut reader = store.reader().await?;
    let statement = if query.is_some() { MATCHING } else { ALL };
    let rows = sqlx::query(statement)
        .bind(tenant.as_str())
        .bind(json::write(&owners)?)
        .bind(limit)
        .bind(query.map(|query| expression(tenant, query)))
        .fetch_all(reader.connection())
        .await
        .map_err(store_error)?;
    reader.give_back();
    rows.iter().map(found).collect()
}

/// Any of the words, each also as the beginning of a longer one. The words are letters and digits only, and
/// stand in quotes: nothing of the query is syntax.
fn expression(tenant: &TenantId, query: &SearchQuery) -> String {
    let words: Vec<_> = query.words().iter().map(|word| format!("\"{word}\" *")).collect();
    let place = index::place(tenant);
    format!("place : \"{place}\" AND - place : ({})", words.join(" OR "))
}

fn found(row: &SqliteRow) -> Stored<FoundSkill> {
    let count = |column| -> Stored<u64> {
        let value: Option<i64> = row.try_get(column).map_err(store_error)?;
        Ok(value.and_then(|value| u64::try_from(value).ok()).unwrap_or(0))
    };
    Ok(FoundSkill {
        skill: super::skill(row)?,
        revision: RevisionId::new(&row::text(row, "found_revision")?),
        runs: count("ended")?,
        succeeded: count("succeeded")?,
        last_run_at: row::optional_time(row, "last_at")?,
    })
}
