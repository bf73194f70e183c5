use belljar_core::audit::Action;
use belljar_core::ports::Pauses;

use crate::world::{assert_valid, draft, folder, open, other_tenant, tenant};

#[tokio::test]
async fn a_pause_holds_for_a_tenant_or_for_all_and_is_seen_by_every_process() {
    let folder = folder();
    let (store, neighbour) = (open(folder.path()).await, open(folder.path()).await);
    assert!(store.set_paused(Some(&tenant()), true, draft(Action::ExecutionPause)).await.unwrap());
    assert!(!store.set_paused(Some(&tenant()), true, draft(Action::ExecutionPause)).await.unwrap());
    assert!(neighbour.is_paused(&tenant()).await.unwrap());
    assert!(!neighbour.is_paused(&other_tenant()).await.unwrap());
    assert!(neighbour.set_paused(None, true, draft(Action::ExecutionPause)).await.unwrap());
    assert!(store.is_paused(&other_tenant()).await.unwrap());
    assert!(store.set_paused(Some(&tenant()), false, draft(Action::ExecutionResume)).await.unwrap());
    assert!(store.is_paused(&tenant()).await.unwrap(), "all are paused still");
    assert!(store.set_paused(None, false, draft(Action::ExecutionResume)).await.unwrap());
    assert!(!store.set_paused(None, false, draft(Action::ExecutionResume)).await.unwrap());
    assert!(!store.is_paused(&tenant()).await.unwrap());
    assert_eq!(assert_valid(&store, &tenant()).await, 4);
}

#[tokio::test]
async fn the_entry_must_be_of_the_tenant_that_is_paused() {
    let folder = folder();
    let store = open(folder.path()).await;
    assert!(store.set_paused(Some(&other_tenant()), true, draft(Action::ExecutionPause)).await.is_err());
    assert!(!store.is_paused(&other_tenant()).await.unwrap());
}
