//! Purging a skill: the one way to delete.

use belljar_core::audit::Action;
use belljar_core::ids::SkillId;
use belljar_core::skill::{RevisionChoice, RevisionDraft};

use crate::Subject;
use crate::furnished::furnish;
use crate::reading::{appended, save, trail, verified};
use crate::snapshot::Snapshot;
use crate::values::{FIRST, SECOND, THIRD, entry, owner, revision, slug, tenant};

/// A purge takes the skill with all its revisions and files. Its name is free again.
pub async fn a_purge_takes_the_skill_and_frees_its_name(subject: &dyn Subject) {
    let ports = subject.open().await;
    let tenant = tenant();
    let first = save(&ports, RevisionDraft { publish: true, ..revision("demo", FIRST) }).await;
    let second = save(&ports, revision("demo", SECOND)).await;
    let id = &first.skill.id;
    let purge = ports.skills.purge(&tenant, id, entry(Action::SkillPurge));
    let (answer, entries) = appended(&ports, &tenant, purge).await;
    assert_eq!((answer, entries.len()), (true, 1));
    let skills = &ports.skills;
    assert_eq!(skills.find_by_id(&tenant, id).await.unwrap(), None);
    assert_eq!(skills.find_by_slug(&tenant, &[owner()], &slug("demo")).await.unwrap(), None);
    assert!(skills.list(&tenant, &[owner()]).await.unwrap().is_empty());
    assert!(skills.revisions(&tenant, id).await.unwrap().is_empty());
    assert_eq!(skills.revision(&tenant, id, &RevisionChoice::Current).await.unwrap(), None);
    for gone in [&first.revision.id, &second.revision.id] {
        let exact = RevisionChoice::Exact(gone.clone());
        assert_eq!(skills.revision(&tenant, id, &exact).await.unwrap(), None);
        assert!(skills.files(&tenant, gone).await.is_err());
    }
    let again = save(&ports, revision("demo", FIRST)).await;
    assert_eq!((again.is_new, again.revision.number, again.skill.published), (true, 1, None));
    assert_ne!(again.skill.id, *id);
    assert!(ports.skills.files(&tenant, &again.revision.id).await.is_ok());
}

/// Files that a revision of another skill has, too, survive; so does everything else of that skill.
pub async fn a_purge_leaves_files_that_another_skill_shares(subject: &dyn Subject) {
    let ports = subject.open().await;
    let gone = save(&ports, revision("gone", FIRST)).await;
    save(&ports, revision("gone", THIRD)).await;
    let kept = save(&ports, revision("kept", SECOND)).await;
    let same = save(&ports, RevisionDraft { slug: slug("same"), ..revision("gone", FIRST) }).await;
    assert!(ports.skills.purge(&tenant(), &gone.skill.id, entry(Action::SkillPurge)).await.unwrap());
    for (saved, files) in [(kept, SECOND), (same, FIRST)] {
        let found = ports.skills.files(&tenant(), &saved.revision.id).await.unwrap();
        assert_eq!(found.digest(), revision("any", files).files.digest());
        assert_eq!(ports.skills.find_by_id(&tenant(), &saved.skill.id).await.unwrap(), Some(saved.skill));
    }
}

/// Grants, executions and the trail outlive the skill.
pub async fn a_purge_leaves_grants_executions_and_the_trail(subject: &dyn Subject) {
    let ports = subject.open().await;
    let kept = furnish(&ports).await;
    let (grants, runs) = (ports.grants.list(&tenant()).await.unwrap(), ports.executions.list(&tenant(), 9).await);
    let before = trail(&ports, &tenant()).await;
    assert!(ports.skills.purge(&tenant(), &kept.first.skill.id, entry(Action::SkillPurge)).await.unwrap());
    assert_eq!(ports.grants.list(&tenant()).await.unwrap(), grants);
    assert_eq!(ports.executions.list(&tenant(), 9).await.unwrap(), runs.unwrap());
    let after = trail(&ports, &tenant()).await;
    assert_eq!(after[..before.len()], before);
    assert_eq!(verified(&ports, &tenant()).await, before.len() as u64 + 1);
}

/// What is not there, or not any more, is not purged, and nothing is written.
pub async fn a_purge_of_nothing_writes_nothing(subject: &dyn Subject) {
    let ports = subject.open().await;
    let saved = save(&ports, revision("demo", FIRST)).await;
    save(&ports, revision("other", FIRST)).await;
    assert!(ports.skills.purge(&tenant(), &saved.skill.id, entry(Action::SkillPurge)).await.unwrap());
    let before = Snapshot::of(&ports).await;
    for id in [&saved.skill.id, &SkillId::new("none")] {
        assert!(!ports.skills.purge(&tenant(), id, entry(Action::SkillPurge)).await.unwrap());
    }
    assert_eq!(Snapshot::of(&ports).await, before);
}
