//! Durable claims waiting for an order worker, and claims held by workers.

use std::collections::{BTreeMap, HashMap, VecDeque};

use mallbox_storage::{LogPosition, LoggedClaim, Timestamp};
use parking_lot::Mutex;
use tokio::sync::Notify;

/// Hands each claim to one worker.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    inner: Mutex<Inner>,
    filled: Notify,
}

#[derive(Debug, Default)]
struct Inner {
    waiting: VecDeque<LoggedClaim>,
    in_hand: HashMap<String, BTreeMap<LogPosition, LoggedClaim>>,
}

impl Queue {
    pub(crate) fn push(&self, claims: impl IntoIterator<Item = LoggedClaim>) {
        self.inner.lock().waiting.extend(claims);
        self.filled.notify_one();
    }

    /// Takes up to `max` claims, oldest first; empty if there are none.
    pub(crate) fn take(&self, worker: &str, max: usize) -> Vec<LoggedClaim> {
        let mut inner = self.inner.lock();
        let count = inner.waiting.len().min(max);
        let taken: Vec<LoggedClaim> = inner.waiting.drain(..count).collect();
        if !taken.is_empty() {
            let hand = inner.in_hand.entry(worker.to_owned()).or_default();
            hand.extend(taken.iter().map(|claim| (claim.position, *claim)));
            if !inner.waiting.is_empty() {
                // Another worker may be waiting for the rest.
                self.filled.notify_one();
            }
        }
        taken
    }

    /// Waits until claims may have arrived.
    pub(crate) async fn filled(&self) {
        self.filled.notified().await;
    }

    /// Removes `claims` from the worker's hands. Returns only claims that the worker held.
    pub(crate) fn settle(&self, worker: &str, claims: &[LoggedClaim]) -> Vec<LoggedClaim> {
        let mut inner = self.inner.lock();
        let Some(hand) = inner.in_hand.get_mut(worker) else { return Vec::new() };
        claims.iter().filter_map(|claim| hand.remove(&claim.position)).collect()
    }

    /// Puts claims back into the queue in log order: usually at the front, unless other claims came back
    /// before. With `refused`, each claim's attempts rise by one.
    pub(crate) fn put_back(&self, worker: &str, claims: &[LoggedClaim], refused: bool) {
        let returned = self.settle(worker, claims);
        let mut inner = self.inner.lock();
        for mut claim in returned {
            claim.attempts += u32::from(refused);
            let place = inner.waiting.partition_point(|other| other.position < claim.position);
            inner.waiting.insert(place, claim);
        }
        drop(inner);
        self.filled.notify_one();
    }

    /// Puts all claims held by the worker back into the queue. Returns their number.
    pub(crate) fn reclaim(&self, worker: &str) -> usize {
        let in_hand: Vec<LoggedClaim> =
            self.inner.lock().in_hand.get(worker).into_iter().flat_map(BTreeMap::values).copied().collect();
        self.put_back(worker, &in_hand, false);
        in_hand.len()
    }

    /// Returns the time of the oldest claim, waiting or held by a worker.
    pub(crate) fn oldest(&self) -> Option<Timestamp> {
        let inner = self.inner.lock();
        let waiting = inner.waiting.front().map(|claim| claim.claim.at);
        let in_hand =
            inner.in_hand.values().filter_map(|hand| hand.values().next()).map(|claim| claim.claim.at);
        in_hand.chain(waiting).min()
    }
}
