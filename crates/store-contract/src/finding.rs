//! Finding skills.

use belljar_core::ids::SkillId;
use belljar_core::skill::RevisionDraft;

use crate::Subject;
use crate::reading::save;
use crate::values::{FIRST, SECOND, owner, revision, slug, team, tenant};

/// A slug is looked for with the first owner, then with the next; owners who were not named have nothing.
pub async fn a_slug_is_found_in_the_order_of_owners(subject: &dyn Subject) {
    let ports = subject.open().await;
    let mine = save(&ports, revision("both", FIRST)).await.skill;
    let theirs = save(&ports, RevisionDraft { owner: team(), ..revision("both", FIRST) }).await.skill;
    let only = save(&ports, RevisionDraft { owner: team(), ..revision("theirs", SECOND) }).await.skill;
    let find = async |owners: &[_], name| ports.skills.find_by_slug(&tenant(), owners, &slug(name)).await.unwrap();
    assert_eq!(find(&[owner(), team()], "both").await, Some(mine));
    assert_eq!(find(&[team(), owner()], "both").await, Some(theirs));
    assert_eq!(find(&[owner(), team()], "theirs").await, Some(only));
    assert_eq!(find(&[owner()], "theirs").await, None);
    assert_eq!(find(&[], "both").await, None);
    assert_eq!(find(&[owner(), team()], "nobodys").await, None);
}

/// An id finds its skill, whoever owns it, and no other.
pub async fn an_id_is_found_whoever_owns_it(subject: &dyn Subject) {
    let ports = subject.open().await;
    let mine = save(&ports, revision("mine", FIRST)).await.skill;
    let theirs = save(&ports, RevisionDraft { owner: team(), ..revision("theirs", FIRST) }).await.skill;
    for skill in [mine, theirs] {
        assert_eq!(ports.skills.find_by_id(&tenant(), &skill.id).await.unwrap(), Some(skill));
    }
    assert_eq!(ports.skills.find_by_id(&tenant(), &SkillId::new("none")).await.unwrap(), None);
}

/// The skills of the named owners are listed by slug, whenever they were saved.
pub async fn skills_are_listed_by_slug(subject: &dyn Subject) {
    let ports = subject.open().await;
    for (name, owner) in [("m", owner()), ("z", team()), ("a", owner()), ("k", team())] {
        save(&ports, RevisionDraft { owner, ..revision(name, FIRST) }).await;
    }
    let list = async |owners: &[_]| {
        let skills = ports.skills.list(&tenant(), owners).await.unwrap();
        skills.into_iter().map(|skill| skill.slug.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(list(&[team(), owner()]).await, ["a", "k", "m", "z"]);
    assert_eq!(list(&[owner()]).await, ["a", "m"]);
    assert!(list(&[]).await.is_empty());
}
