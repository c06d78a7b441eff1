//! Pending invalidations: not received by Redis yet, or too recent for a promoted replica to have received.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mallbox_storage::CacheKey;
use parking_lot::Mutex;
use tokio::time::Instant;

/// Maximum replication lag of a promoted replica. Copies are hardly fresh for longer.
const LAG_MAX: Duration = Duration::from_secs(30);
/// Maximum number of sent invalidations to remember: 1 MB at most.
const SENT_MAX: usize = 8_192;

/// Keys with possibly stale copies in Redis. Few keys are written to the database while Redis is away,
/// because the authentication of writers needs Redis.
#[derive(Default)]
pub(super) struct PendingInvalidations {
    /// Number of pending keys. At zero, readers need no lock.
    count: AtomicUsize,
    keys: Mutex<Keys>,
}

#[derive(Default)]
struct Keys {
    /// Number of the last invalidation by key. Sending an earlier invalidation does not settle a later one.
    numbers: HashMap<CacheKey, u64>,
    last: u64,
    /// Sent invalidations, oldest first.
    sent: VecDeque<(Instant, CacheKey)>,
}

impl PendingInvalidations {
    pub(super) fn has(&self, key: &CacheKey) -> bool {
        self.count.load(Ordering::SeqCst) > 0 && self.keys.lock().numbers.contains_key(key)
    }

    /// Adds pending invalidations. Returns each key with the invalidation's number.
    pub(super) fn add(&self, keys: &[CacheKey]) -> Vec<(CacheKey, u64)> {
        let mut all = self.keys.lock();
        all.last += 1;
        let number = all.last;
        all.numbers.extend(keys.iter().map(|key| (key.clone(), number)));
        self.count.store(all.numbers.len(), Ordering::SeqCst);
        keys.iter().map(|key| (key.clone(), number)).collect()
    }

    /// Marks the invalidation as sent, unless a later invalidation of the key is pending.
    pub(super) fn sent(&self, key: &CacheKey, number: u64) {
        let mut all = self.keys.lock();
        if all.numbers.get(key) == Some(&number) {
            all.numbers.remove(key);
            all.sent.push_back((Instant::now(), key.clone()));
            while all.sent.len() > SENT_MAX || all.sent.front().is_some_and(|(at, _)| at.elapsed() >= LAG_MAX)
            {
                all.sent.pop_front();
            }
        }
        self.count.store(all.numbers.len(), Ordering::SeqCst);
    }

    /// Makes recently sent invalidations pending again, because another server may have taken over.
    pub(super) fn doubt(&self) {
        let sent = std::mem::take(&mut self.keys.lock().sent);
        let live = sent.into_iter().filter(|(at, _)| at.elapsed() < LAG_MAX);
        let keys: Vec<CacheKey> = live.map(|(_, key)| key).collect();
        if !keys.is_empty() {
            self.add(&keys);
        }
    }

    pub(super) fn all(&self) -> Vec<(CacheKey, u64)> {
        if self.count.load(Ordering::SeqCst) == 0 {
            return Vec::new();
        }
        self.keys.lock().numbers.iter().map(|(key, number)| (key.clone(), *number)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_changed_again_meanwhile_is_still_to_be_sent() {
        let (pending, key) = (PendingInvalidations::default(), CacheKey::new("shop", 1));
        let first = pending.add(std::slice::from_ref(&key));
        let second = pending.add(std::slice::from_ref(&key));
        pending.sent(&key, first[0].1);
        assert!(pending.has(&key));
        pending.sent(&key, second[0].1);
        assert!(!pending.has(&key) && pending.all().is_empty());
        pending.doubt();
        assert!(pending.has(&key), "told to another server");
    }
}
