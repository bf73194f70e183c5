//! Search: full text over current revisions, in the caller's scope.

use belljar_core::audit::Action;
use belljar_core::caller::Owner;
use belljar_core::execution::Status;
use belljar_core::ports::{Executions, Skills};
use belljar_core::skill::{FoundSkill, RevisionDraft, SearchQuery};
use belljar_store::Store;
use serde_json::json;
use sqlx::Connection;

use crate::skills::{owner, revision_of, save};
use crate::world::{at, draft, folder, open, other_tenant, record, tenant};

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
async fn a_word_in_the_name_counts_more_than_one_in_the_text_and_prefixes_count() {
    let folder = folder();
    let store = open(folder.path()).await;
    save(&store, revision_of("deploy-check", "Looks.", &[("SKILL.md", &index("Do it."))])).await.unwrap();
    save(&store, revision_of("b", "Says whether to deploy.", &[("SKILL.md", &index("Do it."))])).await.unwrap();
    save(&store, revision_of("c", "Looks.", &[("SKILL.md", &index("First deploy, then look."))])).await.unwrap();
    save(&store, revision_of("d", "Looks.", &[("SKILL.md", &index("x")), ("scripts/deploy.py", b"")])).await.unwrap();
    save(&store, revision_of("e", "Other.", &[("SKILL.md", &index("Nothing."))])).await.unwrap();
    assert_eq!(names(&store, "deploy").await[..2], ["deploy-check", "b"]);
    for query in ["deploy", "DEPLOY", "dep", "deploy \"unknown\" (", "deploy*", "de"] {
        let mut found = names(&store, query).await;
        found.sort();
        assert_eq!(found, ["b", "c", "d", "deploy-check"], "{query}");
    }
    assert!(names(&store, "ploy").await.is_empty());
    assert!(names(&store, "hidden").await.is_empty(), "the front matter of the file is not searched, its entry is");
    assert_eq!(names(&store, "").await.len(), 5);
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
async fn only_what_the_caller_sees_is_found() {
    let folder = folder();
    let store = open(folder.path()).await;
    let files: crate::skills::Files<'_> = &[("SKILL.md", b"---\nname: x\n---\nsecret")];
    save(&store, revision_of("mine", "d", files)).await.unwrap();
    let team = Owner::Team("red".to_owned());
    save(&store, RevisionDraft { owner: team.clone(), ..revision_of("ours", "d", files) }).await.unwrap();
    let elsewhere = RevisionDraft { tenant: other_tenant(), ..revision_of("theirs", "d", files) };
    store.save(elsewhere, crate::world::draft_of(&other_tenant(), Action::SkillSave, &json!({}))).await.unwrap();
    assert_eq!(names(&store, "secret").await, ["mine"]);
    let query = SearchQuery::parse("secret");
    for (tenant, owners, expected) in [
        (tenant(), vec![owner(), team.clone()], 2),
        (tenant(), vec![team], 1),
        (tenant(), vec![], 0),
        (other_tenant(), vec![owner()], 1),
    ] {
        for query in [query.as_ref(), None] {
            assert_eq!(store.search(&tenant, &owners, query, 20).await.unwrap().len(), expected);
        }
    }
    let limited = store.search(&tenant(), &[owner(), Owner::Team("red".to_owned())], query.as_ref(), 1).await.unwrap();
    assert_eq!(limited.len(), 1);
}

#[tokio::test]
async fn the_current_revision_is_what_is_searched() {
    let folder = folder();
    let store = open(folder.path()).await;
    let first = save(&store, revision_of("s", "d", &[("SKILL.md", &index("alpha"))])).await.unwrap();
    assert_eq!(search(&store, "alpha").await[0].revision, first.revision.id);
    let second = save(&store, revision_of("s", "d", &[("SKILL.md", &index("beta"))])).await.unwrap();
    assert_eq!(
        (names(&store, "alpha").await.len(), search(&store, "beta").await[0].revision.clone()),
        (0, second.revision.id.clone())
    );
    let id = &first.skill.id;
    store.publish(&tenant(), id, &first.revision.id, draft(Action::SkillPublish)).await.unwrap();
    assert_eq!((names(&store, "alpha").await.len(), names(&store, "beta").await.len()), (1, 0));
    // A further draft does not hide what is published.
    save(&store, revision_of("s", "d", &[("SKILL.md", &index("gamma"))])).await.unwrap();
    assert_eq!((names(&store, "alpha").await.len(), names(&store, "gamma").await.len()), (1, 0));
    store.set_archived(&tenant(), id, true, draft(Action::SkillArchive)).await.unwrap();
    assert_eq!((names(&store, "alpha").await.len(), names(&store, "").await.len()), (0, 0));
    store.set_archived(&tenant(), id, false, draft(Action::SkillUnarchive)).await.unwrap();
    assert_eq!(names(&store, "alpha").await.len(), 1);
    store.purge(&tenant(), id, draft(Action::SkillPurge)).await.unwrap();
    assert_eq!(names(&store, "alpha").await.len(), 0);
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
async fn of_equal_matches_the_latest_used_and_then_the_more_successful_comes_first() {
    let folder = folder();
    let store = open(folder.path()).await;
    let mut ids = Vec::new();
    for name in ["one", "two", "six"] {
        ids.push(save(&store, revision_of(name, "Same words.", &[("SKILL.md", &index("x"))])).await.unwrap().skill.id);
    }
    let run = async |skill: usize, time: i64, status: Status| {
        let mut record = record(&store);
        record.skill_id = Some(ids[skill].clone());
        record.created_at = at(time);
        store.open(record.clone(), draft(Action::ScriptRun)).await.unwrap();
        record.status = status;
        Executions::close(&store, record, draft(Action::ScriptOutcome)).await.unwrap();
    };
    run(0, 10, Status::Failed).await;
    run(1, 10, Status::Success).await;
    assert_eq!(names(&store, "same").await, ["two", "one", "six"]);
    run(2, 11, Status::Failed).await;
    run(0, 12, Status::NotStarted).await;
    let found = search(&store, "same").await;
    assert_eq!(found.iter().map(|found| found.skill.slug.as_str()).collect::<Vec<_>>(), ["six", "two", "one"]);
    assert_eq!(found.iter().map(|found| (found.runs, found.succeeded)).collect::<Vec<_>>(), [(1, 0), (1, 1), (1, 0)]);
    assert_eq!(found[0].last_run_at, Some(at(11)));
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
