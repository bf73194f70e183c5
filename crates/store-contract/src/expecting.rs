//! What has to be so for a save.

use belljar_core::ids::RevisionId;
use belljar_core::skill::{Expectation, RevisionDraft, SaveAnswer};

use crate::Subject;
use crate::reading::{save, try_save};
use crate::snapshot::Snapshot;
use crate::values::{FIRST, SECOND, THIRD, entry, revision, team, tenant};
use belljar_core::audit::Action;

fn expecting(expectation: Expectation, files: crate::values::Files<'_>) -> RevisionDraft {
    RevisionDraft { expectation, ..revision("demo", files) }
}

/// A save that wants to create a skill conflicts with the one that is there, even with the same files. Another
/// owner's is no obstacle.
pub async fn a_create_conflicts_with_what_is_there(subject: &dyn Subject) {
    let ports = subject.open().await;
    save(&ports, RevisionDraft { owner: team(), ..revision("demo", FIRST) }).await;
    let answer = try_save(&ports, expecting(Expectation::NewSkill, FIRST)).await;
    assert!(matches!(answer, SaveAnswer::Saved(saved) if saved.is_new));
    let before = Snapshot::of(&ports).await;
    for files in [FIRST, SECOND] {
        assert_eq!(try_save(&ports, expecting(Expectation::NewSkill, files)).await, SaveAnswer::Conflict);
    }
    assert_eq!(Snapshot::of(&ports).await, before);
}

/// An update is made from the latest revision that was seen, and from no older one; not of a skill that is
/// not there.
pub async fn an_update_from_a_stale_revision_conflicts(subject: &dyn Subject) {
    let ports = subject.open().await;
    let empty = Snapshot::of(&ports).await;
    let none = Expectation::Latest(RevisionId::new("none"));
    assert_eq!(try_save(&ports, expecting(none.clone(), FIRST)).await, SaveAnswer::Conflict);
    assert_eq!(Snapshot::of(&ports).await, empty);
    let first = save(&ports, revision("demo", FIRST)).await;
    let from_first = Expectation::Latest(first.revision.id);
    let answer = try_save(&ports, expecting(from_first.clone(), SECOND)).await;
    assert!(matches!(answer, SaveAnswer::Saved(saved) if saved.revision.number == 2));
    let before = Snapshot::of(&ports).await;
    for stale in [from_first, none] {
        assert_eq!(try_save(&ports, expecting(stale, THIRD)).await, SaveAnswer::Conflict);
    }
    assert_eq!(Snapshot::of(&ports).await, before);
}

/// The latest revision is what an update is compared with, whichever is published.
pub async fn an_update_is_compared_with_the_latest_and_not_the_published(subject: &dyn Subject) {
    let ports = subject.open().await;
    let first = save(&ports, RevisionDraft { publish: true, ..revision("demo", FIRST) }).await;
    let second = save(&ports, revision("demo", SECOND)).await;
    let stale = Expectation::Latest(first.revision.id);
    assert_eq!(try_save(&ports, expecting(stale, THIRD)).await, SaveAnswer::Conflict);
    let latest = Expectation::Latest(second.revision.id);
    assert!(matches!(try_save(&ports, expecting(latest, THIRD)).await, SaveAnswer::Saved(_)));
}

/// An archived skill takes no revision, whatever is expected, until it is taken back.
pub async fn an_archived_skill_takes_no_revision(subject: &dyn Subject) {
    let ports = subject.open().await;
    let saved = save(&ports, revision("demo", FIRST)).await;
    let set = async |archived| {
        let audit = entry(Action::SkillArchive);
        ports.skills.set_archived(&tenant(), &saved.skill.id, archived, audit).await.unwrap()
    };
    assert!(set(true).await);
    let before = Snapshot::of(&ports).await;
    for expectation in [Expectation::Anything, Expectation::NewSkill, Expectation::Latest(saved.revision.id.clone())] {
        for files in [FIRST, SECOND] {
            assert_eq!(try_save(&ports, expecting(expectation.clone(), files)).await, SaveAnswer::Archived);
        }
    }
    assert_eq!(Snapshot::of(&ports).await, before);
    assert!(set(false).await);
    assert_eq!(save(&ports, revision("demo", SECOND)).await.revision.number, 2);
}
