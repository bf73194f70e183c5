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

use crate::world::{at, draft, folder, fresh, open, path, tenant};

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

async fn run(folder: &tempfile::TempDir, sql: &str) {
    let path = folder.path().join("belljar.db");
    let mut connection = sqlx::SqliteConnection::connect(path.to_str().unwrap()).await.unwrap();
    sqlx::query(sqlx::AssertSqlSafe(sql.to_owned())).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}
