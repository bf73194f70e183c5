//! Pausing runs.

use belljar_core::audit::Action;
use belljar_core::ports::Ports;
use belljar_executor::TenantId;

use crate::Subject;
use crate::reading::appended;
use crate::values::{entry_of, other_tenant, tenant};

/// Sets a pause and wants one entry exactly when it changed something.
async fn set(ports: &Ports, whose: Option<&TenantId>, paused: bool) -> bool {
    let chain = whose.cloned().unwrap_or_else(tenant);
    let change = ports.pauses.set_paused(whose, paused, entry_of(&chain, Action::ExecutionPause));
    let (changed, entries) = appended(ports, &chain, change).await;
    assert_eq!(entries.len(), usize::from(changed));
    changed
}

async fn paused(ports: &Ports) -> [bool; 2] {
    [ports.pauses.is_paused(&tenant()).await.unwrap(), ports.pauses.is_paused(&other_tenant()).await.unwrap()]
}

/// A tenant's pause holds for it alone, in every process, until it is resumed. Setting what is so already
/// writes nothing.
pub async fn a_pause_holds_for_its_tenant(subject: &dyn Subject) {
    let (ports, neighbour) = (subject.open().await, subject.open().await);
    assert_eq!(paused(&ports).await, [false, false]);
    assert!(!set(&ports, Some(&tenant()), false).await);
    assert!(set(&ports, Some(&tenant()), true).await);
    assert!(!set(&neighbour, Some(&tenant()), true).await);
    assert_eq!(paused(&neighbour).await, [true, false]);
    assert!(!set(&neighbour, Some(&other_tenant()), false).await);
    assert!(set(&neighbour, Some(&tenant()), false).await);
    assert_eq!(paused(&ports).await, [false, false]);
}

/// A pause of all holds for every tenant, beside their own: each is resumed by itself.
pub async fn a_pause_of_all_holds_for_every_tenant(subject: &dyn Subject) {
    let (ports, neighbour) = (subject.open().await, subject.open().await);
    assert!(set(&ports, Some(&tenant()), true).await);
    assert!(set(&ports, None, true).await);
    assert!(!set(&neighbour, None, true).await);
    assert_eq!(paused(&neighbour).await, [true, true]);
    assert!(set(&neighbour, Some(&tenant()), false).await);
    assert_eq!(paused(&ports).await, [true, true], "all are paused still");
    assert!(set(&ports, Some(&tenant()), true).await);
    assert!(set(&ports, None, false).await);
    assert!(!set(&ports, None, false).await);
    assert_eq!(paused(&neighbour).await, [true, false], "the tenant's own is left");
}
