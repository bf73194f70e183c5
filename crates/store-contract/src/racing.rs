//! Two processes that want the same at once.

use belljar_core::audit::Action;
use belljar_core::grant::Grant;
use belljar_core::ids::GrantId;
use belljar_core::ports::Ports;
use belljar_core::skill::{Expectation, RevisionDraft, SaveAnswer, Saved};

use crate::Subject;
use crate::reading::{add, close, open, save, trail, try_save, verified};
use crate::values::{FIRST, ended, entry, grant, owner, revision, run, script, tenant};

/// How many want it, half of them through each handle.
const RACERS: usize = 8;

async fn two(subject: &dyn Subject) -> [Ports; 2] {
    [subject.open().await, subject.open().await]
}

/// Saves different revisions of one name at once; those who were told that it is saved.
async fn race(handles: &[Ports; 2], expectation: &Expectation) -> Vec<Saved> {
    let saves: Vec<_> = (0..RACERS)
        .map(|number| {
            let (ports, expectation) = (handles[number % 2].clone(), expectation.clone());
            let text = format!("{expectation:?} {number}");
            tokio::spawn(async move {
                let draft = revision("demo", &[("SKILL.md", text.as_bytes())]);
                try_save(&ports, RevisionDraft { expectation, ..draft }).await
            })
        })
        .collect();
    let mut won = Vec::new();
    for save in saves {
        match save.await.unwrap() {
            SaveAnswer::Saved(saved) => won.push(*saved),
            SaveAnswer::Conflict => {}
            SaveAnswer::Archived => panic!("nobody archived the skill"),
        }
    }
    won
}

/// Wants exactly these revisions, newest first, and as many entries.
async fn assert_stored(handles: &[Ports; 2], mut wanted: Vec<Saved>) {
    wanted.sort_by_key(|saved| std::cmp::Reverse(saved.revision.number));
    for ports in handles {
        let skills = ports.skills.list(&tenant(), &[owner()]).await.unwrap();
        assert_eq!(skills.len(), 1);
        let stored = ports.skills.revisions(&tenant(), &skills[0].id).await.unwrap();
        assert_eq!(stored, wanted.iter().map(|saved| saved.revision.clone()).collect::<Vec<_>>());
        for revision in stored {
            ports.skills.files(&tenant(), &revision.id).await.unwrap();
        }
        assert_eq!(verified(ports, &tenant()).await, wanted.len() as u64);
    }
}

/// Of creates that race, one makes the skill and the others conflict. The trail has the winner's entry alone.
pub async fn of_racing_creates_one_wins(subject: &dyn Subject) {
    let handles = two(subject).await;
    let won = race(&handles, &Expectation::NewSkill).await;
    assert_eq!(won.len(), 1);
    assert_stored(&handles, won).await;
}

/// Of updates from one revision that race, one is the next revision and the others conflict.
pub async fn of_racing_updates_one_wins(subject: &dyn Subject) {
    let handles = two(subject).await;
    let mut all = vec![save(&handles[0], revision("demo", FIRST)).await];
    for round in 2..=3 {
        let latest = all[all.len() - 1].revision.id.clone();
        let won = race(&handles, &Expectation::Latest(latest)).await;
        assert_eq!(won.iter().map(|saved| saved.revision.number).collect::<Vec<_>>(), [round]);
        all.extend(won);
    }
    assert_stored(&handles, all).await;
}

/// Saves without expectation that race are all kept, and their numbers have no gap.
pub async fn racing_saves_leave_no_gap(subject: &dyn Subject) {
    let handles = two(subject).await;
    let saved = race(&handles, &Expectation::Anything).await;
    let mut numbers: Vec<_> = saved.iter().map(|saved| saved.revision.number).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=8).collect::<Vec<_>>());
    assert_stored(&handles, saved).await;
}

/// Of equal saves that race, one makes the revision and the others are answered with it.
pub async fn of_racing_equal_saves_one_is_new(subject: &dyn Subject) {
    let handles = two(subject).await;
    let saves: Vec<_> = (0..RACERS)
        .map(|number| {
            let ports = handles[number % 2].clone();
            tokio::spawn(async move { save(&ports, revision("demo", FIRST)).await })
        })
        .collect();
    let mut saved = Vec::new();
    for save in saves {
        saved.push(save.await.unwrap());
    }
    assert!(saved.iter().all(|save| save.revision == saved[0].revision));
    saved.retain(|save| save.is_new);
    assert_eq!(saved.len(), 1);
    assert_stored(&handles, saved).await;
}

/// Entries that are appended at once by two processes are one chain.
pub async fn racing_entries_are_one_chain(subject: &dyn Subject) {
    let handles = two(subject).await;
    let appends: Vec<_> = (0..RACERS)
        .map(|number| {
            let ports = handles[number % 2].clone();
            tokio::spawn(async move { ports.audit.append(entry(Action::AccessDenied)).await.unwrap() })
        })
        .collect();
    let mut receipts = Vec::new();
    for append in appends {
        receipts.push(append.await.unwrap());
    }
    receipts.sort_by_key(|receipt| receipt.sequence);
    for ports in &handles {
        assert_eq!(verified(ports, &tenant()).await, 8);
        let ids: Vec<_> = trail(ports, &tenant()).await.into_iter().map(|entry| entry.id).collect();
        assert_eq!(ids, receipts.iter().map(|receipt| receipt.audit_id.clone()).collect::<Vec<_>>());
    }
}

/// Grants of one key that are given at once are one grant, whose id all are told.
pub async fn racing_grants_of_one_key_are_one(subject: &dyn Subject) {
    let handles = two(subject).await;
    let adds: Vec<_> = (0..RACERS)
        .map(|number| {
            let ports = handles[number % 2].clone();
            tokio::spawn(async move { add(&ports, &grant(script(), Some("pin")), false).await })
        })
        .collect();
    let mut told: Vec<GrantId> = Vec::new();
    for add in adds {
        let Grant { id, .. } = add.await.unwrap();
        told.push(id);
    }
    told.dedup();
    let stored: Vec<_> = handles[1].grants.list(&tenant()).await.unwrap().into_iter().map(|grant| grant.id).collect();
    assert_eq!(told, stored);
    assert_eq!(verified(&handles[0], &tenant()).await, 8);
}

/// Of those who close a run at once, one does, and the trail has one outcome.
pub async fn of_racing_closes_one_counts(subject: &dyn Subject) {
    let handles = two(subject).await;
    let opened = run(&handles[0]);
    open(&handles[0], &opened).await;
    let closes: Vec<_> = (0..RACERS)
        .map(|number| {
            let (ports, closed) = (handles[number % 2].clone(), ended(&opened));
            tokio::spawn(async move { close(&ports, &closed).await })
        })
        .collect();
    let mut closed = 0;
    for close in closes {
        closed += usize::from(close.await.unwrap());
    }
    assert_eq!(closed, 1);
    assert_eq!(verified(&handles[1], &tenant()).await, 2);
}
