//! What happens to a skill: created once, updated from what was seen, published, archived, purged.

use belljar_core::audit::Action;
use belljar_core::ids::{RevisionId, SkillId};
use belljar_core::ports::Skills;
use belljar_core::skill::{Expectation, RevisionChoice, RevisionDraft, SaveAnswer};
use belljar_store::Store;
use serde_json::json;
use sqlx::Connection;

use crate::skills::{FIRST, SECOND, owner, revision_of, save};
use crate::world::{assert_valid, draft, draft_of, folder, open, other_tenant, path, tenant, trail};

async fn count(folder: &tempfile::TempDir, table: &'static str) -> i64 {
    let path = folder.path().join("belljar.db");
    let mut connection = sqlx::SqliteConnection::connect(path.to_str().unwrap()).await.unwrap();
    let query = match table {
        "skill" => "select count(*) from skill",
        "revision" => "select count(*) from revision",
        "revision_file" => "select count(*) from revision_file",
        _ => "select count(*) from blob",
    };
    sqlx::query_scalar(query).fetch_one(&mut connection).await.unwrap()
}

/// Saves with an expectation, from many tasks at once; answers how many got it.
async fn race(store: &Store, expectation: &Expectation) -> usize {
    let saves: Vec<_> = (0..8)
        .map(|number| {
            let (store, expectation) = (store.clone(), expectation.clone());
            let text = format!("text {number}");
            tokio::spawn(async move {
                let revision = revision_of("s", "d", &[("SKILL.md", text.as_bytes())]);
                store.save(RevisionDraft { expectation, ..revision }, draft(Action::SkillSave)).await.unwrap()
            })
        })
        .collect();
    let mut won = 0;
    for save in saves {
        match save.await.unwrap() {
            SaveAnswer::Saved(saved) => won += usize::from(saved.is_new),
            SaveAnswer::Conflict => {}
            SaveAnswer::Archived => panic!("nobody archived it"),
        }
    }
    won
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_racing_creates_and_of_racing_updates_one_wins_and_no_orphan_is_left() {
    let folder = folder();
    let store = open(folder.path()).await;
    assert_eq!(race(&store, &Expectation::NewSkill).await, 1);
    let skill = store.list(&tenant(), &[owner()]).await.unwrap().remove(0);
    let first = store.revision(&tenant(), &skill.id, &RevisionChoice::Current).await.unwrap().unwrap();
    assert_eq!(race(&store, &Expectation::NewSkill).await, 0);
    // One of the eight may be equal to the first revision; that makes no new one, and the others conflict.
    let won = race(&store, &Expectation::Latest(first.id.clone())).await;
    assert_eq!(won, 1);
    let tables =
        [count(&folder, "skill").await, count(&folder, "revision").await, count(&folder, "revision_file").await];
    assert_eq!((tables, count(&folder, "blob").await), ([1, 2, 2], 2));
    assert_eq!(trail(&store, &tenant()).await.len(), 2);
    let nobody = race(&store, &Expectation::Latest(RevisionId::new("none"))).await;
    assert_eq!((nobody, count(&folder, "blob").await), (0, 2));
    assert_valid(&store, &tenant()).await;
}

#[tokio::test]
async fn an_update_of_a_skill_that_is_not_there_conflicts() {
    let folder = folder();
    let store = open(folder.path()).await;
    let expectation = Expectation::Latest(RevisionId::new("any"));
    let answer = store.save(RevisionDraft { expectation, ..revision_of("s", "d", FIRST) }, draft(Action::SkillSave));
    assert_eq!(answer.await.unwrap(), SaveAnswer::Conflict);
    assert_eq!((count(&folder, "skill").await, trail(&store, &tenant()).await.len()), (0, 0));
}

#[tokio::test]
async fn publishing_moves_one_pointer_and_only_to_a_revision_of_the_skill() {
    let folder = folder();
    let store = open(folder.path()).await;
    let first = save(&store, revision_of("s", "d", FIRST)).await.unwrap();
    let second = save(&store, revision_of("s", "d", SECOND)).await.unwrap();
    let other = save(&store, revision_of("t", "d", FIRST)).await.unwrap();
    let id = &first.skill.id;
    let publish = async |tenant: &belljar_executor::TenantId, revision: &RevisionId| {
        store.publish(tenant, id, revision, draft_of(tenant, Action::SkillPublish, &json!({}))).await.unwrap()
    };
    let entries = trail(&store, &tenant()).await.len();
    assert_eq!(publish(&tenant(), &other.revision.id).await, None);
    assert_eq!(publish(&tenant(), &RevisionId::new("none")).await, None);
    assert_eq!(publish(&other_tenant(), &first.revision.id).await, None);
    assert_eq!(trail(&store, &tenant()).await.len(), entries);
    assert_eq!(publish(&tenant(), &first.revision.id).await, Some(true));
    assert_eq!(publish(&tenant(), &first.revision.id).await, Some(false));
    assert_eq!(trail(&store, &tenant()).await.len(), entries + 1);
    let current = store.revision(&tenant(), id, &RevisionChoice::Current).await.unwrap();
    assert_eq!(current, Some(first.revision.clone()));
    assert_eq!(publish(&tenant(), &second.revision.id).await, Some(true));
    let last = trail(&store, &tenant()).await.pop().unwrap();
    assert_eq!(last.before.as_deref(), Some(format!("{{\"published\":\"{}\"}}", first.revision.id).as_str()));
    // Saving what is there already can publish it, too; that is one entry, and saving it again is none.
    let again = RevisionDraft { publish: true, ..revision_of("s", "d", FIRST) };
    let saved = save(&store, again.clone()).await.unwrap();
    assert_eq!((saved.is_new, saved.skill.published), (false, Some(first.revision.id.clone())));
    let entries = trail(&store, &tenant()).await.len();
    save(&store, again).await.unwrap();
    assert_eq!(trail(&store, &tenant()).await.len(), entries);
    assert_valid(&store, &tenant()).await;
}

#[tokio::test]
async fn an_archived_skill_takes_no_revision_until_it_is_back() {
    let folder = folder();
    let store = open(folder.path()).await;
    let saved = save(&store, revision_of("s", "d", FIRST)).await.unwrap();
    let set = async |archived| {
        store.set_archived(&tenant(), &saved.skill.id, archived, draft(Action::SkillArchive)).await.unwrap()
    };
    assert_eq!([set(true).await, set(true).await], [true, false]);
    assert!(store.find_by_id(&tenant(), &saved.skill.id).await.unwrap().unwrap().archived);
    let answer = store.save(revision_of("s", "d", SECOND), draft(Action::SkillSave)).await.unwrap();
    assert_eq!((answer, count(&folder, "revision").await), (SaveAnswer::Archived, 1));
    assert_eq!([set(false).await, set(false).await], [true, false]);
    save(&store, revision_of("s", "d", SECOND)).await.unwrap();
    assert_eq!(trail(&store, &tenant()).await.len(), 4);
    let other = other_tenant();
    let elsewhere =
        store.set_archived(&other, &saved.skill.id, true, draft_of(&other_tenant(), Action::SkillArchive, &json!({})));
    assert!(!elsewhere.await.unwrap());
}

#[tokio::test]
async fn purging_deletes_what_no_other_revision_has() {
    let folder = folder();
    let store = open(folder.path()).await;
    let gone = save(&store, RevisionDraft { publish: true, ..revision_of("gone", "d", FIRST) }).await.unwrap();
    save(&store, revision_of("gone", "d", &[("SKILL.md", b"only here")])).await.unwrap();
    let kept = save(&store, revision_of("kept", "d", SECOND)).await.unwrap();
    assert_eq!(count(&folder, "blob").await, 5);
    let purge = async |id: &SkillId| store.purge(&tenant(), id, draft(Action::SkillPurge)).await.unwrap();
    assert!(purge(&gone.skill.id).await);
    assert!(!purge(&gone.skill.id).await);
    assert!(
        !store
            .purge(&other_tenant(), &kept.skill.id, draft_of(&other_tenant(), Action::SkillPurge, &json!({})))
            .await
            .unwrap()
    );
    assert_eq!((count(&folder, "blob").await, count(&folder, "revision_file").await), (2, 2));
    let files = store.files(&tenant(), &kept.revision.id).await.unwrap();
    assert_eq!(files.get(&path("SKILL.md")).map(|bytes| &**bytes), Some(&b"two"[..]));
    assert_eq!(store.find_by_id(&tenant(), &gone.skill.id).await.unwrap(), None);
    // The name is free again.
    let again = save(&store, revision_of("gone", "d", FIRST)).await.unwrap();
    assert_ne!(again.skill.id, gone.skill.id);
    assert_valid(&store, &tenant()).await;
}
