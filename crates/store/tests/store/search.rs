//! Search, as far as it is SQLite's: what a query cannot say to it, and what is left in its index.

use belljar_core::audit::Action;
use belljar_core::ports::Skills;
use belljar_core::skill::{FoundSkill, SearchQuery};
use belljar_store::Store;
use sqlx::Connection;

use crate::skills::{owner, revision_of, save};
use crate::world::{draft, folder, open, tenant};

async fn search(store: &Store, query: &str) -> Vec<FoundSkill> {
    let query = SearchQuery::parse(query);
    store.search(&tenant(), &[owner()], query.as_ref(), 20).await.unwrap()
}

async fn names(store: &Store, query: &str) -> Vec<String> {
    search(store, query).await.into_iter().map(|found| found.skill.slug.to_string()).collect()
}

fn index(text: &str) -> Vec<u8> {
    format!("---\nname: x\ndescription: hidden\n---\n{text}\n").into_bytes()
}

#[tokio::test]
async fn nothing_in_a_query_is_syntax() {
    let folder = folder();
    let store = open(folder.path()).await;
    save(&store, revision_of("a", "The near one: AND, OR, NOT.", &[("SKILL.md", &index("x"))])).await.unwrap();
    for query in ["near", "AND", "or NOT", "name:the", "{a b}:x \"", "^the", "the - x", "\0the", "place : the"] {
        assert_eq!(names(&store, query).await, ["a"], "{query}");
    }
    // Not even the word that stands for the tenant.
    let place = format!("t{}", belljar_executor::Digest::of(b"local").lower_hex());
    assert!(names(&store, &place).await.is_empty());
}

#[tokio::test]
async fn nothing_of_a_purged_skill_is_left_in_the_index() {
    let folder = folder();
    let store = open(folder.path()).await;
    let saved = save(&store, revision_of("s", "d", &[("SKILL.md", &index("alpha"))])).await.unwrap();
    save(&store, revision_of("s", "d", &[("SKILL.md", &index("beta"))])).await.unwrap();
    store.purge(&tenant(), &saved.skill.id, draft(Action::SkillPurge)).await.unwrap();
    let mut connection =
        sqlx::SqliteConnection::connect(folder.path().join("belljar.db").to_str().unwrap()).await.unwrap();
    let left: i64 =
        sqlx::query_scalar("select (select count(*) from search_text) + (select count(*) from search_document)")
            .fetch_one(&mut connection)
            .await
            .unwrap();
    assert_eq!(left, 0);
}

#[tokio::test]
async fn skills_that_were_saved_before_there_was_a_search_are_found_after_opening() {
    let folder = folder();
    let store = open(folder.path()).await;
    let saved = save(&store, revision_of("s", "d", &[("SKILL.md", &index("alpha"))])).await.unwrap();
    store.close().await;
    let mut connection =
        sqlx::SqliteConnection::connect(folder.path().join("belljar.db").to_str().unwrap()).await.unwrap();
    for statement in ["delete from search_text", "delete from search_document"] {
        sqlx::query(statement).execute(&mut connection).await.unwrap();
    }
    connection.close().await.unwrap();
    let store = open(folder.path()).await;
    assert_eq!(search(&store, "alpha").await[0].revision, saved.revision.id);
}
