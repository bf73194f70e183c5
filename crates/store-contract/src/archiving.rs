//! Archiving a skill.

use belljar_core::audit::Action;
use belljar_core::ids::SkillId;
use belljar_core::skill::{RevisionDraft, Skill};

use crate::Subject;
use crate::reading::{appended, save};
use crate::snapshot::Snapshot;
use crate::values::{FIRST, entry, owner, revision, tenant};

/// An archived skill stays where it is, with everything it has, and can be taken back.
pub async fn an_archived_skill_keeps_what_it_has(subject: &dyn Subject) {
    let ports = subject.open().await;
    let saved = save(&ports, RevisionDraft { publish: true, ..revision("demo", FIRST) }).await;
    save(&ports, revision("other", FIRST)).await;
    let id = &saved.skill.id;
    for archived in [true, false] {
        assert!(ports.skills.set_archived(&tenant(), id, archived, entry(Action::SkillArchive)).await.unwrap());
        let skill = ports.skills.find_by_id(&tenant(), id).await.unwrap();
        assert_eq!(skill, Some(Skill { archived, ..saved.skill.clone() }));
        let listed = ports.skills.list(&tenant(), &[owner()]).await.unwrap();
        assert_eq!(listed.iter().map(|skill| skill.archived).collect::<Vec<_>>(), [archived, false]);
        assert_eq!(ports.skills.revisions(&tenant(), id).await.unwrap(), std::slice::from_ref(&saved.revision));
        assert!(ports.skills.files(&tenant(), &saved.revision.id).await.is_ok());
    }
}

/// Archiving what is archived, and taking back what is not, write nothing; nor does a skill that is not there.
pub async fn archiving_twice_writes_nothing(subject: &dyn Subject) {
    let ports = subject.open().await;
    let tenant = tenant();
    let saved = save(&ports, revision("demo", FIRST)).await;
    let set = async |id: &SkillId, archived| {
        let change = ports.skills.set_archived(&tenant, id, archived, entry(Action::SkillArchive));
        let (answer, entries) = appended(&ports, &tenant, change).await;
        (answer, entries.len())
    };
    assert_eq!(set(&saved.skill.id, false).await, (false, 0));
    assert_eq!(set(&saved.skill.id, true).await, (true, 1));
    let before = Snapshot::of(&ports).await;
    assert_eq!(set(&saved.skill.id, true).await, (false, 0));
    assert_eq!(set(&SkillId::new("none"), true).await, (false, 0));
    assert_eq!(Snapshot::of(&ports).await, before);
    assert_eq!(set(&saved.skill.id, false).await, (true, 1));
}
