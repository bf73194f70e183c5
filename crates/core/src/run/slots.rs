//! Concurrency slots: bounded per tenant and in all, fair between tenants, counted per process.
//!
//! While another tenant waits, no tenant gets more than its share: a free slot goes to the waiting
//! tenant that holds the fewest, and among equals to the one that waits longest.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use belljar_executor::TenantId;
use tokio::sync::oneshot;

/// The slots of one process.
#[derive(Clone, Debug)]
pub struct Slots(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    per_tenant: usize,
    total: usize,
    held: usize,
    arrivals: u64,
    tenants: BTreeMap<TenantId, Tenant>,
}

#[derive(Debug, Default)]
struct Tenant {
    held: usize,
    waiting: VecDeque<Waiter>,
}

#[derive(Debug)]
struct Waiter {
    arrival: u64,
    give: oneshot::Sender<SlotGuard>,
}

/// One slot, given back exactly once: when it is dropped.
#[derive(Debug)]
pub struct SlotGuard {
    slots: Slots,
    tenant: TenantId,
}

impl Slots {
    /// This many slots per tenant and in all.
    #[must_use]
    pub fn new(per_tenant: usize, total: usize) -> Self {
        Self(Arc::new(Mutex::new(State { per_tenant, total, held: 0, arrivals: 0, tenants: BTreeMap::new() })))
    }

    /// Waits for a slot. Dropping the future gives up the place in the queue.
    pub async fn take(&self, tenant: &TenantId) -> Option<SlotGuard> {
        let (give, take) = oneshot::channel();
        {
            let mut state = self.lock();
            let arrival = state.arrivals;
            state.arrivals += 1;
            state.tenants.entry(tenant.clone()).or_default().waiting.push_back(Waiter { arrival, give });
        }
        self.hand_out();
        take.await.ok()
    }

    /// How many slots are held.
    #[must_use]
    pub fn held(&self) -> usize {
        self.lock().held
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hand_out(&self) {
        loop {
            let Some((tenant, waiter)) = self.lock().next() else { return };
            // The guard exists before it is sent: a waiter that has gone drops it, which frees the slot.
            // That happens outside the lock.
            let guard = SlotGuard { slots: self.clone(), tenant };
            if let Err(guard) = waiter.give.send(guard) {
                guard.forget_and_release();
            }
        }
    }

    fn release(&self, tenant: &TenantId) {
        let mut state = self.lock();
        state.held -= 1;
        if let Some(entry) = state.tenants.get_mut(tenant) {
            entry.held -= 1;
        }
        state.tenants.retain(|_, tenant| tenant.held > 0 || !tenant.waiting.is_empty());
    }
}

impl State {
    /// Takes the waiter whose turn it is, and counts its slot.
    fn next(&mut self) -> Option<(TenantId, Waiter)> {
        for tenant in self.tenants.values_mut() {
            tenant.waiting.retain(|waiter| !waiter.give.is_closed());
        }
        if self.held >= self.total {
            return None;
        }
        let name = self
            .tenants
            .iter()
            .filter(|(_, tenant)| tenant.held < self.per_tenant)
            .filter_map(|(name, tenant)| tenant.waiting.front().map(|waiter| ((tenant.held, waiter.arrival), name)))
            .min()
            .map(|(_, name)| name.clone())?;
        let tenant = self.tenants.get_mut(&name)?;
        let waiter = tenant.waiting.pop_front()?;
        tenant.held += 1;
        self.held += 1;
        Some((name, waiter))
    }
}

impl SlotGuard {
    /// Frees the slot without handing it out: the caller is in the hand-out loop already.
    fn forget_and_release(self) {
        let slots = self.slots.clone();
        let tenant = self.tenant.clone();
        std::mem::forget(self);
        slots.release(&tenant);
    }
}

impl Drop for SlotGuard {
    fn drop(&mut self) {
        self.slots.release(&self.tenant);
        self.slots.hand_out();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tenant(name: &str) -> TenantId {
        TenantId::parse(name).unwrap()
    }

    async fn settle() {
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
    }

    fn waiting(slots: &Slots, name: &str) -> tokio::task::JoinHandle<Option<SlotGuard>> {
        let (slots, name) = (slots.clone(), tenant(name));
        tokio::spawn(async move { slots.take(&name).await })
    }

    #[tokio::test]
    async fn a_tenant_holds_at_most_its_bound() {
        let slots = Slots::new(2, 8);
        let _first = slots.take(&tenant("a")).await.unwrap();
        let second = slots.take(&tenant("a")).await.unwrap();
        let third = waiting(&slots, "a");
        settle().await;
        assert!(!third.is_finished());
        drop(second);
        assert!(third.await.unwrap().is_some());
    }

    #[tokio::test]
    async fn a_free_slot_goes_to_the_tenant_that_holds_fewest() {
        let slots = Slots::new(4, 4);
        let mut flood = Vec::new();
        for _ in 0..4 {
            flood.push(slots.take(&tenant("loud")).await.unwrap());
        }
        let loud = waiting(&slots, "loud");
        settle().await;
        let quiet: Vec<_> = (0..2).map(|_| waiting(&slots, "quiet")).collect();
        settle().await;
        flood.truncate(2);
        for quiet in quiet {
            assert!(quiet.await.unwrap().is_some());
        }
        assert!(!loud.is_finished());
        loud.abort();
        drop(loud.await);
        drop(flood);
        assert_eq!(slots.held(), 0);
    }

    #[tokio::test]
    async fn a_waiter_that_goes_away_leaves_nothing_behind() {
        let slots = Slots::new(1, 1);
        for _ in 0..50 {
            let held = slots.take(&tenant("a")).await.unwrap();
            let gone = waiting(&slots, "a");
            settle().await;
            gone.abort();
            drop(held);
            drop(gone.await);
            assert_eq!(slots.held(), 0);
        }
        assert!(slots.lock().tenants.is_empty());
    }
}
