//! Two processes that race for the same skills and are killed at it: each race has one winner at most, a winner
//! that was told so is there as it was told, and nothing half is left.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command};
use std::time::Duration;

use belljar_core::audit::Action;
use belljar_core::ids::RevisionId;
use belljar_core::ports::Skills;
use belljar_core::skill::{Expectation, Revision, RevisionChoice, RevisionDraft, SaveAnswer, Saved};
use belljar_executor::SkillName;
use belljar_store::Store;
use sqlx::Connection;

use crate::crashes::{acknowledged, child, child_folder};
use crate::skills::{owner, revision_of};
use crate::world::{assert_valid, draft, folder, fresh, open, tenant, trail};

/// What stands before the names of the skills that are raced for.
const NAMES: &str = "BELLJAR_TEST_NAMES";

/// How many updates of each skill are raced for, by each task.
const UPDATES: usize = 3;

/// What a child was told: it won this race.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Win {
    number: u32,
    name: String,
    /// The revision that the update was made from, or `new`.
    from: String,
    revision: String,
    files: String,
}

impl Win {
    fn read((number, text): &(u64, String)) -> Self {
        let mut words = text.split(' ').map(str::to_owned);
        let mut next = || words.next().unwrap();
        let number = u32::try_from(*number).unwrap();
        Self { number, name: next(), from: next(), revision: next(), files: next() }
    }
}

/// Saves a text that nobody else saves; tells when that won the race.
async fn race(store: &Store, name: &str, expectation: Expectation) {
    let from = match &expectation {
        Expectation::Latest(id) => id.to_string(),
        _ => "new".to_owned(),
    };
    // One file is in every revision, one in this alone.
    let text = fresh("text");
    let wanted = revision_of(name, "d", &[("SKILL.md", text.as_bytes()), ("shared", b"shared")]);
    let files = wanted.files.digest();
    let answer = store.save(RevisionDraft { expectation, ..wanted }, draft(Action::SkillSave)).await.unwrap();
    let Saved { revision, is_new, .. } = match answer {
        SaveAnswer::Saved(saved) => *saved,
        SaveAnswer::Conflict => return,
        SaveAnswer::Archived => panic!("nobody archived it"),
    };
    assert!(is_new);
    let mut out = std::io::stdout().lock();
    writeln!(out, "acknowledged {} {name} {from} {} {files}", revision.number, revision.id).unwrap();
    out.flush().unwrap();
}

async fn race_on(store: Store, names: String) {
    for turn in 0.. {
        let name = format!("{names}-{turn}");
        race(&store, &name, Expectation::NewSkill).await;
        let slug = SkillName::parse(&name).unwrap();
        let skill = store.find_by_slug(&tenant(), &[owner()], &slug).await.unwrap().unwrap();
        for _ in 0..UPDATES {
            let latest = store.revision(&tenant(), &skill.id, &RevisionChoice::Current).await.unwrap().unwrap();
            race(&store, &name, Expectation::Latest(latest.id)).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "started by other tests as a process of its own"]
async fn child_racer() {
    let store = open(&child_folder()).await;
    let names = std::env::var(NAMES).expect("run by another test");
    // Two tasks race inside a batch, too.
    let tasks: Vec<_> = (0..2).map(|_| tokio::spawn(race_on(store.clone(), names.clone()))).collect();
    for task in tasks {
        task.await.unwrap();
    }
}

fn racer(folder: &Path, names: &str) -> Command {
    let mut command = child("races::child_racer", folder);
    command.env(NAMES, names);
    command
}

/// What a racer won until it was killed, after it had won so often.
fn wins(racer: Child, often: usize, delay: Duration) -> Vec<Win> {
    let wins = acknowledged(racer, often, |racer| {
        std::thread::sleep(delay);
        racer.kill().unwrap();
    });
    wins.iter().map(Win::read).collect()
}

/// Rows that belong to nothing, by table; and a skill or revision that has nothing.
async fn orphans(folder: &Path) -> Vec<(&'static str, i64)> {
    let path = folder.join("belljar.db");
    let mut connection = sqlx::SqliteConnection::connect(path.to_str().unwrap()).await.unwrap();
    let mut found = Vec::new();
    for (what, sql) in [
        (
            "content without a file",
            "select count(*) from blob where (tenant, sha256) not in (select tenant, sha256 from revision_file)",
        ),
        (
            "file without a revision",
            "select count(*) from revision_file where (tenant, revision) not in (select tenant, id from revision)",
        ),
        (
            "file without its content",
            "select count(*) from revision_file where (tenant, sha256) not in (select tenant, sha256 from blob)",
        ),
        (
            "revision without a file",
            "select count(*) from revision where (tenant, id) not in (select tenant, revision from revision_file)",
        ),
        (
            "revision without a skill",
            "select count(*) from revision where (tenant, skill) not in (select tenant, id from skill)",
        ),
        (
            "skill without a revision",
            "select count(*) from skill where (tenant, id) not in (select tenant, skill from revision)",
        ),
    ] {
        let count: i64 = sqlx::query_scalar(sql).fetch_one(&mut connection).await.unwrap();
        found.extend((count > 0).then_some((what, count)));
    }
    connection.close().await.unwrap();
    found
}

/// Wants the reopened store to be whole, to have what was told, and one winner of each race.
async fn assert_whole(folder: &Path, told: &[Win]) {
    let store = open(folder).await;
    assert_valid(&store, &tenant()).await;
    assert_eq!(orphans(folder).await, []);
    let mut stored = BTreeSet::new();
    let mut saved = Vec::new();
    for skill in store.list(&tenant(), &[owner()]).await.unwrap() {
        let revisions = store.revisions(&tenant(), &skill.id).await.unwrap();
        let mut from = "new".to_owned();
        for (Revision { id, number, .. }, wanted) in revisions.into_iter().rev().zip(1..) {
            assert_eq!(number, wanted, "a gap in the revisions of {}", skill.slug);
            let files = store.files(&tenant(), &id).await.unwrap().digest().to_string();
            let (name, revision) = (skill.slug.to_string(), id.to_string());
            // Every update was made from the revision before it, so no race was won twice.
            stored.insert(Win { number, name, from: std::mem::replace(&mut from, id.to_string()), revision, files });
            saved.push(id);
        }
    }
    for win in told {
        assert!(stored.contains(win), "{win:?} was told and is not there");
    }
    let races: BTreeSet<_> = told.iter().map(|win| (&win.name, &win.from)).collect();
    assert_eq!(races.len(), told.len(), "a race has two winners");
    let mut entries: Vec<_> = trail(&store, &tenant())
        .await
        .iter()
        .map(|entry| RevisionId::new(entry.facts()["revision_id"].as_str().unwrap()))
        .collect();
    entries.sort();
    saved.sort();
    assert_eq!(entries, saved, "each save has its entry, and each entry its save");
    store.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_racing_processes_killed_at_any_moment_one_wins_each_race_and_nothing_half_is_left() {
    let folder = folder();
    let mut told = Vec::new();
    for round in 0..10_u64 {
        let racers: Vec<_> = [1 + round * 7 % 17, 1 + round * 11 % 23]
            .into_iter()
            .map(|often| {
                let racer = racer(folder.path(), &format!("race-{round}")).spawn().unwrap();
                let often = usize::try_from(often).unwrap();
                std::thread::spawn(move || wins(racer, often, Duration::from_micros(round * 157)))
            })
            .collect();
        for racer in racers {
            let wins = racer.join().unwrap();
            assert!(!wins.is_empty(), "each racer is killed after it won");
            told.extend(wins);
        }
        assert_whole(folder.path(), &told).await;
    }
}

#[cfg(feature = "crash-points")]
#[tokio::test(flavor = "multi_thread")]
async fn a_racer_that_crashes_in_a_commit_leaves_the_race_to_the_other() {
    for point in ["before_commit", "after_commit", "after_heads"] {
        let folder = folder();
        let mut told = Vec::new();
        for turn in 1..=6 {
            let names = format!("race-{turn}");
            let mut crashing = racer(folder.path(), &names);
            crashing.env("BELLJAR_CRASH_AT", format!("{point}:{turn}")).stderr(std::process::Stdio::null());
            let crashing = crashing.spawn().unwrap();
            let other = racer(folder.path(), &names).spawn().unwrap();
            let other = std::thread::spawn(move || wins(other, 12, Duration::ZERO));
            told.extend(acknowledged(crashing, usize::MAX, |_| {}).iter().map(Win::read));
            let others = other.join().unwrap();
            assert!(others.len() >= 12, "{point}: the crash of one does not stop the other");
            told.extend(others);
            assert_whole(folder.path(), &told).await;
        }
    }
}
