use std::collections::BTreeMap;
use std::sync::Arc;

use belljar_core::audit::Action;
use belljar_core::caller::Owner;
use belljar_core::ids::{RevisionId, SkillId};
use belljar_core::ports::{Skills, StoreError, Stored};
use belljar_core::skill::{
    ComponentType, Expectation, FileEntry, Manifest, RevisionChoice, RevisionDraft, SaveAnswer, Saved,
};
use belljar_executor::{Digest, FileTree, SkillName};
use belljar_store::Store;
use sqlx::Connection;

use crate::world::{assert_valid, at, draft, folder, fresh, open, other_tenant, path, tenant};

pub(crate) type Files<'f> = &'f [(&'f str, &'f [u8])];

pub(crate) fn owner() -> Owner {
    Owner::Personal("ada".to_owned())
}

pub(crate) fn revision_of(slug: &str, description: &str, files: Files<'_>) -> RevisionDraft {
    let entry = |bytes: &[u8]| FileEntry {
        sha256: Digest::of(bytes),
        size: bytes.len() as u64,
        media_type: "text/plain".to_owned(),
        component_type: ComponentType::Document,
    };
    let tree: BTreeMap<_, _> = files.iter().map(|(name, bytes)| (path(name), Arc::from(*bytes))).collect();
    RevisionDraft {
        new_skill_id: SkillId::new(&fresh("skill")),
        new_revision_id: RevisionId::new(&fresh("revision")),
        tenant: tenant(),
        owner: owner(),
        slug: SkillName::parse(slug).unwrap(),
        description: description.to_owned(),
        manifest: Manifest {
            name: SkillName::parse(slug).unwrap(),
            description: description.to_owned(),
            files: files.iter().map(|(name, bytes)| (path(name), entry(bytes))).collect(),
            scripts: BTreeMap::new(),
        },
        files: FileTree::new(tree),
        created_by: "ada".to_owned(),
        created_at: at(1),
        expectation: Expectation::Anything,
        publish: false,
    }
}

pub(crate) async fn save(store: &Store, revision: RevisionDraft) -> Stored<Saved> {
    match store.save(revision, draft(Action::SkillSave)).await? {
        SaveAnswer::Saved(saved) => Ok(*saved),
        refused => panic!("{refused:?}"),
    }
}

pub(crate) const FIRST: Files<'_> = &[("SKILL.md", b"one"), ("a.bin", b"\xff\x00\x01"), ("empty", b"")];
pub(crate) const SECOND: Files<'_> = &[("SKILL.md", b"two"), ("a.bin", b"\xff\x00\x01")];

#[tokio::test]
async fn revisions_are_numbered_and_an_equal_one_is_used_again() {
    let folder = folder();
    let store = open(folder.path()).await;
    let first = save(&store, revision_of("s", "d1", FIRST)).await.unwrap();
    let second = save(&store, revision_of("s", "d2", SECOND)).await.unwrap();
    let again = save(&store, revision_of("s", "d1", FIRST)).await.unwrap();
    let third = save(&store, revision_of("s", "d3", SECOND)).await.unwrap();
    assert_eq!([first.is_new, second.is_new, again.is_new, third.is_new], [true, true, false, true]);
    assert_eq!([first.revision.number, second.revision.number, third.revision.number], [1, 2, 3]);
    assert_eq!(again.revision, first.revision);
    assert_eq!(again.skill.description, "d2", "the newest saved revision's");
    assert_eq!(assert_valid(&store, &tenant()).await, 3, "no entry for the one that was there");

    let id = &first.skill.id;
    let current = store.revision(&tenant(), id, &RevisionChoice::Current).await.unwrap();
    assert_eq!(current, Some(third.revision.clone()));
    let exact = RevisionChoice::Exact(first.revision.id.clone());
    assert_eq!(store.revision(&tenant(), id, &exact).await.unwrap(), Some(first.revision.clone()));
    assert_eq!(store.revision(&other_tenant(), id, &exact).await.unwrap(), None);
    assert_eq!(store.revision(&tenant(), &SkillId::new("other"), &exact).await.unwrap(), None);
    let all = store.revisions(&tenant(), id).await.unwrap();
    assert_eq!(all, [third.revision, second.revision, first.revision.clone()]);
    let files = store.files(&tenant(), &first.revision.id).await.unwrap();
    assert_eq!(files.digest(), revision_of("s", "d1", FIRST).files.digest());
    assert!(store.files(&other_tenant(), &first.revision.id).await.is_err());
}

#[tokio::test]
async fn the_published_revision_is_the_current_one() {
    let folder = folder();
    let store = open(folder.path()).await;
    let first = save(&store, revision_of("s", "d1", FIRST)).await.unwrap();
    save(&store, revision_of("s", "d2", SECOND)).await.unwrap();
    run(&folder, &format!("update skill set published_revision = '{}'", first.revision.id)).await;
    let current = store.revision(&tenant(), &first.skill.id, &RevisionChoice::Current).await.unwrap();
    assert_eq!(current, Some(first.revision.clone()));
    let skill = store.find_by_id(&tenant(), &first.skill.id).await.unwrap().unwrap();
    assert_eq!((skill.published, skill.archived), (Some(first.revision.id), false));
}

#[tokio::test]
async fn skills_are_found_by_slug_in_the_order_of_owners() {
    let folder = folder();
    let store = open(folder.path()).await;
    let team = Owner::Team("red".to_owned());
    let mine = save(&store, revision_of("s", "mine", FIRST)).await.unwrap().skill;
    let theirs = save(&store, RevisionDraft { owner: team.clone(), ..revision_of("s", "theirs", FIRST) });
    let theirs = theirs.await.unwrap().skill;
    let only = save(&store, RevisionDraft { owner: team.clone(), ..revision_of("a", "only", FIRST) });
    let only = only.await.unwrap().skill;
    let slug = |text: &str| SkillName::parse(text).unwrap();
    let both = [owner(), team.clone()];
    assert_eq!(store.find_by_slug(&tenant(), &both, &slug("s")).await.unwrap(), Some(mine.clone()));
    let turned = [team.clone(), owner()];
    assert_eq!(store.find_by_slug(&tenant(), &turned, &slug("s")).await.unwrap(), Some(theirs.clone()));
    assert_eq!(store.find_by_slug(&tenant(), &both, &slug("a")).await.unwrap(), Some(only.clone()));
    assert_eq!(store.find_by_slug(&tenant(), &[owner()], &slug("a")).await.unwrap(), None);
    assert_eq!(store.find_by_slug(&other_tenant(), &both, &slug("s")).await.unwrap(), None);
    assert_eq!(store.list(&tenant(), &[team]).await.unwrap(), [only, theirs]);
    assert_eq!(store.list(&tenant(), &[]).await.unwrap(), []);
    assert_eq!(store.find_by_id(&other_tenant(), &mine.id).await.unwrap(), None);
}

#[tokio::test]
async fn files_that_are_not_those_of_the_manifest_are_refused() {
    let folder = folder();
    let store = open(folder.path()).await;
    let good = revision_of("s", "d", FIRST);
    for files in [SECOND, &FIRST[..2], &[FIRST[0], FIRST[1], FIRST[2], ("more", b"x")]] {
        let wrong = RevisionDraft { files: revision_of("s", "d", files).files, ..good.clone() };
        assert!(save(&store, wrong).await.is_err());
    }
    assert!(store.list(&tenant(), &[owner()]).await.unwrap().is_empty());
    assert!(save(&store, good).await.unwrap().is_new);
}

#[tokio::test]
async fn a_file_that_changed_in_the_database_is_damage() {
    let folder = folder();
    let store = open(folder.path()).await;
    let saved = save(&store, revision_of("s", "d", FIRST)).await.unwrap();
    let id = &saved.revision.id;
    run(&folder, "drop trigger blob_is_immutable").await;
    run(&folder, "update blob set bytes = x'00' where length(bytes) = 3").await;
    assert!(matches!(store.files(&tenant(), id).await, Err(StoreError::Damaged(_))));
    run(&folder, "delete from revision_file where path = 'a.bin'").await;
    assert!(matches!(store.files(&tenant(), id).await, Err(StoreError::Damaged(_))));
    run(&folder, "drop trigger revision_is_immutable").await;
    run(&folder, "update revision set manifest = replace(manifest, 'a.bin', 'b.bin')").await;
    let revision = store.revision(&tenant(), &saved.skill.id, &RevisionChoice::Current).await;
    assert!(matches!(revision, Err(StoreError::Damaged(_))));
}

#[tokio::test]
async fn content_is_kept_once() {
    let folder = folder();
    let store = open(folder.path()).await;
    save(&store, revision_of("s", "d1", FIRST)).await.unwrap();
    save(&store, revision_of("s", "d2", SECOND)).await.unwrap();
    let path = folder.path().join("belljar.db");
    let mut connection = sqlx::SqliteConnection::connect(path.to_str().unwrap()).await.unwrap();
    let count: i64 = sqlx::query_scalar("select count(*) from blob").fetch_one(&mut connection).await.unwrap();
    assert_eq!(count, 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn racing_saves_of_two_stores_leave_no_gap() {
    let folder = folder();
    let stores = [open(folder.path()).await, open(folder.path()).await];
    let tasks: Vec<_> = (0..20)
        .map(|turn| {
            let store = stores[turn % 2].clone();
            let text = format!("{}", turn / 2);
            tokio::spawn(async move { save(&store, revision_of("s", &text, FIRST)).await.unwrap() })
        })
        .collect();
    let mut made = 0;
    for task in tasks {
        made += u32::from(task.await.unwrap().is_new);
    }
    assert_eq!(made, 10);
    let skills = stores[0].list(&tenant(), &[owner()]).await.unwrap();
    let revisions = stores[0].revisions(&tenant(), &skills[0].id).await.unwrap();
    assert_eq!(
        revisions.iter().map(|revision| revision.number).collect::<Vec<_>>(),
        (1..=10).rev().collect::<Vec<_>>()
    );
    assert_eq!((skills.len(), assert_valid(&stores[0], &tenant()).await), (1, 10));
}

async fn run(folder: &tempfile::TempDir, sql: &str) {
    let path = folder.path().join("belljar.db");
    let mut connection = sqlx::SqliteConnection::connect(path.to_str().unwrap()).await.unwrap();
    sqlx::query(sqlx::AssertSqlSafe(sql.to_owned())).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}
