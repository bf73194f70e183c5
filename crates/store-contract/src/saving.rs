//! Saving revisions, and reading them back.

use belljar_core::ids::{RevisionId, SkillId};
use belljar_core::skill::{RevisionChoice, RevisionDraft, Skill};
use belljar_executor::Digest;

use crate::Subject;
use crate::reading::{appended, current, save, trail};
use crate::snapshot::Snapshot;
use crate::values::{FIRST, Files, SECOND, THIRD, at, entry, owner, path, revision, slug, tenant};
use belljar_core::audit::Action;

/// The first save of a name makes the skill and its revision 1, both exactly as drafted.
pub async fn a_first_save_makes_the_skill_and_its_first_revision(subject: &dyn Subject) {
    let ports = subject.open().await;
    let draft = revision("demo", FIRST);
    let saved = save(&ports, draft.clone()).await;
    let skill = Skill {
        id: draft.new_skill_id,
        tenant: tenant(),
        owner: owner(),
        slug: slug("demo"),
        description: draft.description,
        archived: false,
        published: None,
        created_at: at(1),
    };
    assert_eq!(saved.skill, skill);
    assert!(saved.is_new);
    let text = draft.manifest.canonical_json().unwrap();
    assert_eq!((saved.revision.number, &saved.revision.id), (1, &draft.new_revision_id));
    assert_eq!((&saved.revision.skill_id, &saved.revision.manifest), (&skill.id, &draft.manifest));
    assert_eq!(saved.revision.manifest_digest, Digest::of(text.as_bytes()));
    assert_eq!((saved.revision.created_by.as_str(), saved.revision.created_at), ("ada", at(1)));
    assert_eq!(ports.skills.find_by_id(&tenant(), &skill.id).await.unwrap(), Some(skill.clone()));
    assert_eq!(ports.skills.revisions(&tenant(), &skill.id).await.unwrap(), [saved.revision]);
}

/// Further revisions are numbered without gaps and listed newest first. The skill keeps its id and its first
/// moment, and has the description of the latest.
pub async fn revisions_are_numbered_and_listed_newest_first(subject: &dyn Subject) {
    let ports = subject.open().await;
    let mut saved = Vec::new();
    for (turn, files) in [FIRST, SECOND, THIRD].into_iter().enumerate() {
        let moment = at(i64::try_from(turn).unwrap());
        let description = format!("Does {turn}.");
        saved.push(save(&ports, RevisionDraft { description, created_at: moment, ..revision("demo", files) }).await);
    }
    let listed = ports.skills.revisions(&tenant(), &saved[0].skill.id).await.unwrap();
    assert_eq!(listed.iter().map(|revision| revision.number).collect::<Vec<_>>(), [3, 2, 1]);
    assert_eq!(listed, saved.iter().rev().map(|saved| saved.revision.clone()).collect::<Vec<_>>());
    let skill = ports.skills.find_by_id(&tenant(), &saved[0].skill.id).await.unwrap();
    assert_eq!(skill, Some(Skill { description: "Does 2.".to_owned(), ..saved[0].skill.clone() }));
    assert_eq!(skill.as_ref(), Some(&saved[2].skill));
    assert!(ports.skills.revisions(&tenant(), &SkillId::new("none")).await.unwrap().is_empty());
}

/// An equal manifest makes no revision and no entry: the one that is there is answered, an older one, too.
pub async fn an_equal_manifest_uses_its_revision_again(subject: &dyn Subject) {
    let ports = subject.open().await;
    let first = save(&ports, revision("demo", FIRST)).await;
    let second = save(&ports, revision("demo", SECOND)).await;
    let before = Snapshot::of(&ports).await;
    for (files, old) in [(SECOND, &second), (FIRST, &first)] {
        let again = save(&ports, revision("demo", files)).await;
        assert_eq!((&again.revision, again.is_new), (&old.revision, false));
        assert_eq!(again.skill, second.skill);
    }
    assert_eq!(Snapshot::of(&ports).await, before);
    // The same manifest in another skill is another revision.
    let other = RevisionDraft { slug: slug("other"), ..revision("demo", FIRST) };
    assert!(save(&ports, other).await.is_new);
}

/// The current revision is the published one, else the latest. An exact one must belong to the skill.
pub async fn the_current_revision_is_the_published_one_else_the_latest(subject: &dyn Subject) {
    let ports = subject.open().await;
    let tenant = tenant();
    let first = save(&ports, revision("demo", FIRST)).await;
    let second = save(&ports, revision("demo", SECOND)).await;
    let other = save(&ports, revision("other", THIRD)).await;
    assert_eq!(current(&ports, &first).await, 2);
    let publish = ports.skills.publish(&tenant, &first.skill.id, &first.revision.id, entry(Action::SkillPublish));
    assert_eq!(publish.await.unwrap(), Some(true));
    assert_eq!(current(&ports, &first).await, 1);
    let exact = async |id: &RevisionId| {
        ports.skills.revision(&tenant, &first.skill.id, &RevisionChoice::Exact(id.clone())).await.unwrap()
    };
    assert_eq!(exact(&first.revision.id).await, Some(first.revision.clone()));
    assert_eq!(exact(&second.revision.id).await, Some(second.revision));
    assert_eq!(exact(&other.revision.id).await, None);
    assert_eq!(exact(&RevisionId::new("none")).await, None);
    let none = ports.skills.revision(&tenant, &SkillId::new("none"), &RevisionChoice::Current).await;
    assert_eq!(none.unwrap(), None);
}

/// Files come back byte for byte: no text, nothing at all, and many bytes.
pub async fn files_come_back_byte_for_byte(subject: &dyn Subject) {
    let ports = subject.open().await;
    let many: Vec<u8> = (0..=u8::MAX).cycle().take(1_000_003).collect();
    let deep = "a/deep/path with spaces/ü.bin";
    let files: Files<'_> = &[("SKILL.md", b"one\r\n"), ("a.bin", b"\xff\x00\x01"), ("empty", b""), (deep, &many)];
    let first = save(&ports, revision("demo", files)).await;
    let second = save(&ports, revision("demo", SECOND)).await;
    let reader = subject.open().await;
    for (saved, files) in [(&first, files), (&second, SECOND)] {
        let tree = reader.skills.files(&tenant(), &saved.revision.id).await.unwrap();
        assert_eq!(tree.len(), files.len());
        for (name, bytes) in files {
            assert!(tree.get(&path(name)).is_some_and(|found| **found == **bytes), "{name}");
        }
    }
}

/// A revision that is not there has no files: that is an error and no empty tree.
pub async fn files_of_no_revision_are_an_error(subject: &dyn Subject) {
    let ports = subject.open().await;
    save(&ports, revision("demo", FIRST)).await;
    assert!(ports.skills.files(&tenant(), &RevisionId::new("none")).await.is_err());
}

/// Files that are not exactly those of the manifest are refused, and nothing is written.
pub async fn files_other_than_those_of_the_manifest_are_refused(subject: &dyn Subject) {
    let ports = subject.open().await;
    let good = revision("demo", FIRST);
    let before = Snapshot::of(&ports).await;
    let more = [FIRST[0], FIRST[1], FIRST[2], ("more", &b"x"[..])];
    for (what, files) in [("another content", SECOND), ("one too few", &FIRST[..2]), ("one too many", &more)] {
        let wrong = RevisionDraft { files: revision("demo", files).files, ..good.clone() };
        assert!(ports.skills.save(wrong, entry(Action::SkillSave)).await.is_err(), "{what}");
    }
    assert_eq!(Snapshot::of(&ports).await, before);
    assert!(save(&ports, good).await.is_new);
}

/// A save that publishes moves the pointer, also to a revision that is there already. That is one entry, and
/// asking for what is so already is none.
pub async fn a_save_publishes_when_that_is_asked(subject: &dyn Subject) {
    let ports = subject.open().await;
    let published = |files| RevisionDraft { publish: true, ..revision("demo", files) };
    let first = save(&ports, published(FIRST)).await;
    assert_eq!(first.skill.published.as_ref(), Some(&first.revision.id));
    let second = save(&ports, revision("demo", SECOND)).await;
    assert_eq!(second.skill.published.as_ref(), Some(&first.revision.id));
    assert_eq!(current(&ports, &first).await, 1);
    let saving = ports.skills.save(published(SECOND), entry(Action::SkillSave));
    let (_, entries) = appended(&ports, &tenant(), saving).await;
    assert_eq!((entries.len(), current(&ports, &first).await), (1, 2));
    let before = trail(&ports, &tenant()).await.len();
    assert!(!save(&ports, published(SECOND)).await.is_new);
    assert_eq!(trail(&ports, &tenant()).await.len(), before);
}
