//! The audit trail.

use belljar_core::audit::{Action, AuditDraft, Head, Receipt};
use belljar_core::ids::AuditId;
use belljar_executor::Digest;
use serde_json::json;

use crate::Subject;
use crate::reading::{trail, verified};
use crate::values::{at, entry, entry_of, other_tenant, tenant};

/// Each tenant has a chain of its own, numbered from 1 without gaps, whose links are the hashes before.
pub async fn each_tenant_has_a_chain_of_its_own(subject: &dyn Subject) {
    let ports = subject.open().await;
    let mut sequences = Vec::new();
    for tenant in [tenant(), other_tenant(), tenant(), tenant(), other_tenant()] {
        sequences.push(ports.audit.append(entry_of(&tenant, Action::AccessDenied)).await.unwrap().sequence);
    }
    assert_eq!(sequences, [1, 1, 2, 3, 2]);
    for (tenant, entries) in [(tenant(), 3), (other_tenant(), 2)] {
        assert_eq!(verified(&ports, &tenant).await, entries);
        assert!(trail(&ports, &tenant).await.iter().all(|entry| entry.tenant == tenant));
    }
}

/// An entry comes back as it was drafted, and its receipt names it.
pub async fn an_entry_comes_back_as_it_was_drafted(subject: &dyn Subject) {
    let ports = subject.open().await;
    let text = "a\u{0}b \u{fffd} \" \\ ü";
    let draft = |id: &str| AuditDraft::new(AuditId::new(id), tenant(), text, Action::AccessDenied, text, at(3));
    let full = draft("full").with_before(&json!({"b": 1, "a": text})).with_after(&json!([1.5, null]));
    for wanted in [draft("plain"), full] {
        let head = ports.audit.head(&tenant()).await.unwrap();
        let sealed = wanted.clone().seal(&head);
        let receipt = ports.audit.append(wanted).await.unwrap();
        assert_eq!(receipt, Receipt::from(&sealed));
        assert_eq!(trail(&ports, &tenant()).await.last(), Some(&sealed));
    }
    assert_eq!(verified(&ports, &tenant()).await, 2);
}

/// The head is the last entry's; that of an empty chain is sequence 0.
pub async fn the_head_is_the_last_entrys(subject: &dyn Subject) {
    let ports = subject.open().await;
    assert_eq!(ports.audit.head(&tenant()).await.unwrap(), Head::GENESIS);
    for _ in 0..2 {
        let receipt = ports.audit.append(entry(Action::AccessDenied)).await.unwrap();
        let hash = Digest::parse(&receipt.hash).unwrap();
        assert_eq!(ports.audit.head(&tenant()).await.unwrap(), Head { sequence: receipt.sequence, hash });
    }
    assert_eq!(ports.audit.head(&other_tenant()).await.unwrap(), Head::GENESIS);
}

/// A page starts after a number, goes on in order and has no more entries than asked.
pub async fn a_page_starts_after_a_number_and_ends_at_its_limit(subject: &dyn Subject) {
    let ports = subject.open().await;
    for _ in 0..5 {
        ports.audit.append(entry(Action::AccessDenied)).await.unwrap();
    }
    let page = async |after, limit| {
        let page = ports.audit.page(&tenant(), after, limit).await.unwrap();
        page.into_iter().map(|entry| entry.sequence).collect::<Vec<_>>()
    };
    assert_eq!(page(0, 2).await, [1, 2]);
    assert_eq!(page(2, 2).await, [3, 4]);
    assert_eq!(page(4, 2).await, [5]);
    assert_eq!(page(0, 100).await, [1, 2, 3, 4, 5]);
    assert!(page(5, 2).await.is_empty());
    assert!(page(0, 0).await.is_empty());
    assert!(page(u64::MAX, 2).await.is_empty());
}

/// Every tenant that has entries is named, and no other.
pub async fn tenants_with_entries_are_named(subject: &dyn Subject) {
    let ports = subject.open().await;
    assert!(ports.audit.tenants().await.unwrap().is_empty());
    ports.audit.append(entry(Action::AccessDenied)).await.unwrap();
    assert_eq!(ports.audit.tenants().await.unwrap(), [tenant()]);
    ports.audit.append(entry_of(&other_tenant(), Action::AccessDenied)).await.unwrap();
    ports.audit.append(entry(Action::AccessDenied)).await.unwrap();
    let mut tenants = ports.audit.tenants().await.unwrap();
    tenants.sort();
    assert_eq!(tenants, [tenant(), other_tenant()]);
}

/// One id makes one entry. A second is refused, and the chain goes on after it.
pub async fn one_id_makes_one_entry(subject: &dyn Subject) {
    let ports = subject.open().await;
    let twice = entry(Action::AccessDenied);
    ports.audit.append(twice.clone()).await.unwrap();
    assert!(ports.audit.append(twice).await.is_err());
    assert_eq!(ports.audit.append(entry(Action::AccessDenied)).await.unwrap().sequence, 2);
    assert_eq!(verified(&ports, &tenant()).await, 2);
}

/// A copied head may lag behind, but it is always one that the trail has.
pub async fn copied_heads_are_heads_of_the_trail(subject: &dyn Subject) {
    let ports = subject.open().await;
    assert!(ports.audit.copied_heads().await.unwrap().is_empty());
    let twice = entry(Action::AccessDenied);
    ports.audit.append(twice.clone()).await.unwrap();
    ports.audit.append(entry_of(&other_tenant(), Action::AccessDenied)).await.unwrap();
    ports.audit.append(entry(Action::AccessDenied)).await.unwrap();
    assert!(ports.audit.append(twice).await.is_err(), "nothing of what was refused is copied");
    for (tenant, head) in subject.open().await.audit.copied_heads().await.unwrap() {
        let entries = trail(&ports, &tenant).await;
        assert!(entries.iter().any(|entry| entry.head() == head), "{tenant}: {head}");
    }
}
