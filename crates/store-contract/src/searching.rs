//! Finding skills by words.

use belljar_core::audit::Action;
use belljar_core::caller::Owner;
use belljar_core::execution::{ExecutionRecord, Status};
use belljar_core::ports::Ports;
use belljar_core::skill::{FoundSkill, Manifest, RevisionDraft, SearchQuery};
use belljar_executor::TenantId;

use crate::Subject;
use crate::reading::{close, open, save};
use crate::values::{Files, at, ended, entry, other_tenant, owner, revision, run, team, tenant};

/// A revision with this description, whose index file says this.
fn saying(name: &str, description: &str, index: &str) -> RevisionDraft {
    with_files(
        name,
        description,
        &[("SKILL.md", format!("---\nname: x\ndescription: hidden\n---\n{index}\n").as_bytes())],
    )
}

fn with_files(name: &str, description: &str, files: Files<'_>) -> RevisionDraft {
    let draft = revision(name, files);
    let manifest = Manifest { description: description.to_owned(), ..draft.manifest };
    RevisionDraft { description: description.to_owned(), manifest, ..draft }
}

async fn found(ports: &Ports, tenant: &TenantId, owners: &[Owner], query: &str, limit: u32) -> Vec<FoundSkill> {
    ports.skills.search(tenant, owners, SearchQuery::parse(query).as_ref(), limit).await.unwrap()
}

async fn names(ports: &Ports, query: &str) -> Vec<String> {
    let found = found(ports, &tenant(), &[owner()], query, 20).await;
    found.into_iter().map(|found| found.skill.slug.to_string()).collect()
}

/// A word is looked for in names, descriptions, instructions and file names, in upper or lower case, and as the
/// beginning of a longer one. Of several words one is enough. Nothing in a query is syntax.
pub async fn every_text_of_a_skill_is_searched(subject: &dyn Subject) {
    let ports = subject.open().await;
    save(&ports, saying("deploy-check", "Looks.", "Do it.")).await;
    save(&ports, saying("described", "Says whether to deploy.", "Do it.")).await;
    save(&ports, saying("instructed", "Looks.", "First Deployment, then look.")).await;
    save(&ports, with_files("filed", "Looks.", &[("SKILL.md", b"x"), ("scripts/deploy.py", b"")])).await;
    save(&ports, saying("other", "Elsewhere.", "redeploy")).await;
    for query in ["deploy", "DEPLOY", "dep", "unheard of deploy", "deploy* (\"", "NOT deploy", "name:deploy"] {
        let mut names = names(&ports, query).await;
        names.sort();
        assert_eq!(names, ["deploy-check", "described", "filed", "instructed"], "{query}");
    }
    assert!(names(&ports, "ploy").await.is_empty());
    assert!(names(&ports, "hidden").await.is_empty(), "the front matter of the file is not searched, its entry is");
    assert_eq!(names(&ports, "").await.len(), 5, "no words: all of them");
}

/// What is found is of the tenant and the owners that are asked for, and no more than the limit.
pub async fn a_search_finds_what_its_owners_have(subject: &dyn Subject) {
    let ports = subject.open().await;
    save(&ports, saying("mine", "d", "secret")).await;
    save(&ports, RevisionDraft { owner: team(), ..saying("ours", "d", "secret") }).await;
    save(&ports, RevisionDraft { tenant: other_tenant(), ..saying("theirs", "d", "secret") }).await;
    for query in ["secret", ""] {
        for (tenant, owners, expected) in [
            (tenant(), &[owner(), team()][..], 2),
            (tenant(), &[owner()], 1),
            (tenant(), &[team()], 1),
            (tenant(), &[], 0),
            (other_tenant(), &[owner(), team()], 1),
        ] {
            assert_eq!(found(&ports, &tenant, owners, query, 20).await.len(), expected, "{tenant} {owners:?}");
        }
        assert_eq!(found(&ports, &tenant(), &[owner(), team()], query, 1).await.len(), 1);
        assert!(found(&ports, &tenant(), &[owner(), team()], query, 0).await.is_empty());
    }
}

/// The texts of the current revision are searched, and it is the one that is named: the published one, else the latest.
pub async fn the_current_revision_is_what_is_searched(subject: &dyn Subject) {
    let ports = subject.open().await;
    let first = save(&ports, saying("demo", "d", "alpha")).await;
    let second = save(&ports, saying("demo", "d", "beta")).await;
    assert!(names(&ports, "alpha").await.is_empty());
    let skills = found(&ports, &tenant(), &[owner()], "beta", 20).await;
    assert_eq!(skills[0].revision, second.revision.id);
    let publish = entry(Action::SkillPublish);
    ports.skills.publish(&tenant(), &first.skill.id, &first.revision.id, publish).await.unwrap();
    assert!(names(&ports, "beta").await.is_empty());
    save(&ports, saying("demo", "d", "gamma")).await;
    assert!(names(&ports, "gamma").await.is_empty(), "a further draft hides nothing");
    for query in ["alpha", ""] {
        let skills = found(&ports, &tenant(), &[owner()], query, 20).await;
        assert_eq!((skills.len(), &skills[0].revision), (1, &first.revision.id));
    }
}

/// An archived skill is not found, and found again once it is taken back. One that was purged is gone.
pub async fn an_archived_skill_is_not_found(subject: &dyn Subject) {
    let ports = subject.open().await;
    let id = save(&ports, saying("demo", "d", "alpha")).await.skill.id;
    for (archived, action, count) in [(true, Action::SkillArchive, 0), (false, Action::SkillUnarchive, 1)] {
        ports.skills.set_archived(&tenant(), &id, archived, entry(action)).await.unwrap();
        for query in ["alpha", ""] {
            assert_eq!(names(&ports, query).await.len(), count, "{query}");
        }
    }
    ports.skills.purge(&tenant(), &id, entry(Action::SkillPurge)).await.unwrap();
    assert!(names(&ports, "alpha").await.is_empty() && names(&ports, "").await.is_empty());
}

/// A skill that has the word in its name comes before one that says it in its description, and that before one that
/// says it in its instructions.
pub async fn the_best_match_comes_first(subject: &dyn Subject) {
    let ports = subject.open().await;
    save(&ports, saying("a", "Looks.", "Mentions weather once, among the many other words of this text.")).await;
    save(&ports, saying("b", "Tells the weather.", "Nothing.")).await;
    save(&ports, saying("weather", "Looks.", "Nothing.")).await;
    // Others, so that the word is not in each of them.
    for name in ["x", "y", "z"] {
        save(&ports, saying(name, "Other.", "Nothing.")).await;
    }
    assert_eq!(names(&ports, "weather").await, ["weather", "b", "a"]);
}

/// Of equally good ones the latest used comes first, then the one that ended well more often; what runs came to is
/// told. A run that did not start is no use.
pub async fn of_equal_matches_the_one_that_served_last_comes_first(subject: &dyn Subject) {
    let ports = subject.open().await;
    let mut ids = Vec::new();
    for name in ["one", "two", "six"] {
        ids.push(save(&ports, saying(name, "Same words.", "x")).await.skill.id);
    }
    let use_it = async |skill: usize, moment: i64, status: Status| {
        let opened = ExecutionRecord { skill_id: Some(ids[skill].clone()), created_at: at(moment), ..run(&ports) };
        open(&ports, &opened).await;
        assert!(close(&ports, &ExecutionRecord { status, ..ended(&opened) }).await);
    };
    use_it(0, 110, Status::Failed).await;
    use_it(1, 110, Status::Success).await;
    assert_eq!(names(&ports, "same").await, ["two", "one", "six"]);
    use_it(2, 111, Status::Failed).await;
    use_it(0, 112, Status::NotStarted).await;
    assert_eq!(names(&ports, "same").await, ["six", "two", "one"]);
    let skills = found(&ports, &tenant(), &[owner()], "same", 20).await;
    let uses: Vec<_> = skills.iter().map(|found| (found.runs, found.succeeded, found.last_run_at)).collect();
    assert_eq!(uses, [(1, 0, Some(at(111))), (1, 1, Some(at(110))), (1, 0, Some(at(110)))]);
}
