//! What the tables hold once skills were created, updated and purged.

use belljar_core::audit::Action;
use belljar_core::ids::RevisionId;
use belljar_core::ports::Skills;
use belljar_core::skill::{Expectation, RevisionChoice, RevisionDraft, SaveAnswer};
use belljar_store::Store;
use sqlx::Connection;

use crate::skills::{FIRST, SECOND, owner, revision_of, save};
use crate::world::{assert_valid, draft, folder, open, tenant, trail};

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
async fn purging_deletes_the_content_that_no_other_revision_has() {
    let folder = folder();
    let store = open(folder.path()).await;
    let gone = save(&store, RevisionDraft { publish: true, ..revision_of("gone", "d", FIRST) }).await.unwrap();
    save(&store, revision_of("gone", "d", &[("SKILL.md", b"only here")])).await.unwrap();
    save(&store, revision_of("kept", "d", SECOND)).await.unwrap();
    assert_eq!(count(&folder, "blob").await, 5);
    assert!(store.purge(&tenant(), &gone.skill.id, draft(Action::SkillPurge)).await.unwrap());
    let tables =
        [count(&folder, "skill").await, count(&folder, "revision").await, count(&folder, "revision_file").await];
    assert_eq!((tables, count(&folder, "blob").await), ([1, 1, 2], 2));
}
