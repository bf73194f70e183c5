//! Several stores on one folder, in one process and in several.

use belljar_core::audit::Action;
use belljar_core::ports::Audit;

use crate::crashes::{ENTRIES, acknowledged, child};
use crate::world::{assert_valid, draft, folder, open, tenant, verify};

#[tokio::test(flavor = "multi_thread")]
async fn two_stores_of_one_process_write_one_chain() {
    let folder = folder();
    let stores = [open(folder.path()).await, open(folder.path()).await];
    let tasks: Vec<_> = (0..8)
        .map(|turn| {
            let store = stores[turn % 2].clone();
            tokio::spawn(async move {
                for _ in 0..20 {
                    store.append(draft(Action::AccessDenied)).await.unwrap();
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    for store in &stores {
        assert_eq!(assert_valid(store, &tenant()).await, 160);
    }
    assert_eq!(stores[0].copied_heads().await.unwrap()[&tenant()], stores[1].head(&tenant()).await.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn processes_that_start_at_once_in_a_new_folder_write_one_chain() {
    let folder = folder();
    let readers: Vec<_> = (0..3)
        .map(|_| {
            let child = child("crashes::child_writer", folder.path()).env(ENTRIES, "20").spawn().unwrap();
            std::thread::spawn(move || acknowledged(child, usize::MAX, |_| {}))
        })
        .collect();
    let mut sequences: Vec<_> =
        readers.into_iter().flat_map(|reader| reader.join().unwrap()).map(|(sequence, _)| sequence).collect();
    let count = sequences.len();
    sequences.sort_unstable();
    sequences.dedup();
    assert_eq!((count, sequences.len()), (180, 180), "every answer names another entry");
    let store = open(folder.path()).await;
    // Each writer task makes 5 runs with an outcome, 5 without and 10 other entries.
    let verification = verify(&store, &tenant()).await;
    assert_eq!((verification.fault, verification.entries), (None, 225));
    assert_eq!((verification.runs, verification.outcomes), (90, 45));
}
