//! Publishing a revision.

use belljar_core::audit::Action;
use belljar_core::ids::{RevisionId, SkillId};
use belljar_core::skill::Skill;

use crate::Subject;
use crate::reading::{appended, current, save};
use crate::snapshot::Snapshot;
use crate::values::{FIRST, SECOND, THIRD, entry, revision, tenant};

/// Publishing moves one pointer, forwards and back. Publishing what is published already writes nothing.
pub async fn publishing_moves_one_pointer(subject: &dyn Subject) {
    let ports = subject.open().await;
    let tenant = tenant();
    let first = save(&ports, revision("demo", FIRST)).await;
    let second = save(&ports, revision("demo", SECOND)).await;
    save(&ports, revision("other", THIRD)).await;
    let id = &first.skill.id;
    for (target, number) in [(&second, 2), (&first, 1)] {
        let publish = || ports.skills.publish(&tenant, id, &target.revision.id, entry(Action::SkillPublish));
        let (answer, entries) = appended(&ports, &tenant, publish()).await;
        assert_eq!((answer, entries.len()), (Some(true), 1));
        assert_eq!(current(&ports, &first).await, number);
        let before = Snapshot::of(&ports).await;
        assert_eq!(publish().await.unwrap(), Some(false));
        assert_eq!(Snapshot::of(&ports).await, before);
    }
    let skill = ports.skills.find_by_id(&tenant, id).await.unwrap();
    assert_eq!(skill, Some(Skill { published: Some(first.revision.id), ..second.skill }));
    assert_eq!(ports.skills.revisions(&tenant, id).await.unwrap().len(), 2);
}

/// Only a revision of the skill is published: none of another skill, and none that is not there.
pub async fn only_a_revision_of_the_skill_is_published(subject: &dyn Subject) {
    let ports = subject.open().await;
    let saved = save(&ports, revision("demo", FIRST)).await;
    let other = save(&ports, revision("other", SECOND)).await;
    let before = Snapshot::of(&ports).await;
    let none = (SkillId::new("none"), RevisionId::new("none"));
    let pairs = [
        (&saved.skill.id, &other.revision.id),
        (&other.skill.id, &saved.revision.id),
        (&saved.skill.id, &none.1),
        (&none.0, &saved.revision.id),
    ];
    for (skill, revision) in pairs {
        let answer = ports.skills.publish(&tenant(), skill, revision, entry(Action::SkillPublish)).await.unwrap();
        assert_eq!(answer, None, "revision {revision} of skill {skill}");
    }
    assert_eq!(Snapshot::of(&ports).await, before);
}
