//! Local (in-process) tier of the cache.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use super::{CacheEntry, CacheKey, CacheLease, Decoded};
use crate::Timestamp;

/// Number of invalidation counters. Keys share a counter by hash: a lease revoked because of another key
/// costs one extra read.
const COUNTERS: usize = 1024;
/// Approximate overhead of an entry beyond its bytes.
const ENTRY_OVERHEAD_BYTES: usize = 200;

/// Local cache bounded by total bytes; keeps frequently read entries.
pub struct LocalCache {
    kept: moka::sync::Cache<CacheKey, CacheEntry>,
    hasher: RandomState,
    /// Invalidation counters. Each is locked while an entry of its keys is stored or invalidated, so that no
    /// stale entry is visible between the two steps.
    forgotten: Box<[Mutex<u64>]>,
}

impl LocalCache {
    /// Creates a cache of up to `bytes` bytes. `lives`: maximum age of an entry in real time, if bounded.
    pub fn new(bytes: u64, lives: Option<Duration>) -> Self {
        let weight = |_: &CacheKey, kept: &CacheEntry| {
            // The decoded value is about as large as the bytes.
            u32::try_from(2 * kept.bytes.len() + ENTRY_OVERHEAD_BYTES).unwrap_or(u32::MAX)
        };
        let kept = moka::sync::Cache::builder().max_capacity(bytes).weigher(weight);
        let kept = match lives {
            Some(lives) => kept.time_to_live(lives).build(),
            None => kept.build(),
        };
        let forgotten = (0..COUNTERS).map(|_| Mutex::default()).collect();
        Self { kept, hasher: RandomState::new(), forgotten }
    }

    /// Returns the entry of `key` unless it has expired at `now`.
    pub fn get(&self, key: &CacheKey, now: Timestamp) -> Option<CacheEntry> {
        self.kept.get(key).filter(|kept| now < kept.expires_at)
    }

    /// Returns the invalidation count for a lease.
    pub fn count(&self, key: &CacheKey) -> u64 {
        *self.count_of(key).lock()
    }

    /// Stores an entry. Returns `false` if the key was invalidated after `count` was read, or if the entry is
    /// too large.
    pub fn put(&self, key: &CacheKey, count: u64, bytes: &Arc<[u8]>, expires_at: Timestamp) -> bool {
        let now = self.count_of(key).lock();
        let is_good = *now == count && bytes.len() <= CacheLease::MAX_BYTES;
        if is_good {
            let (bytes, decoded) = (Arc::clone(bytes), Decoded::default());
            self.kept.insert(key.clone(), CacheEntry { bytes, expires_at, is_near: true, decoded });
        }
        is_good
    }

    /// Evicts `key` and invalidates its leases.
    pub fn forget(&self, key: &CacheKey) {
        let mut count = self.count_of(key).lock();
        *count += 1;
        self.kept.invalidate(key);
    }

    /// Evicts all entries and invalidates all leases.
    pub fn clear(&self) {
        // All counters are locked at once: no reader finds an old entry after its replacement was refused.
        let mut counts: Vec<_> = self.forgotten.iter().map(Mutex::lock).collect();
        for count in &mut counts {
            **count += 1;
        }
        self.kept.invalidate_all();
    }

    fn count_of(&self, key: &CacheKey) -> &Mutex<u64> {
        let hash = self.hasher.hash_one(key);
        &self.forgotten[usize::try_from(hash % COUNTERS as u64).unwrap_or(0)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_000);

    fn bytes(length: usize) -> Arc<[u8]> {
        vec![7; length].into()
    }

    #[test]
    fn memory_is_bounded_and_what_is_too_large_is_not_kept() {
        let memory = LocalCache::new(10_000, None);
        for id in 0..1_000 {
            let key = CacheKey::new("shop", id);
            memory.put(&key, memory.count(&key), &bytes(100), NOW + Duration::from_secs(9));
        }
        memory.kept.run_pending_tasks();
        assert!(memory.kept.weighted_size() <= 10_000, "{}", memory.kept.weighted_size());
        assert!(memory.kept.entry_count() > 20, "{}", memory.kept.entry_count());
        let key = CacheKey::new("shop", 1_000);
        assert!(!memory.put(&key, memory.count(&key), &bytes(CacheLease::MAX_BYTES + 1), NOW));
    }

    #[test]
    fn an_entry_lives_no_longer_than_it_may_by_real_time_either() {
        let memory = LocalCache::new(10_000, Some(Duration::from_millis(30)));
        let key = CacheKey::new("shop", 1);
        assert!(memory.put(&key, memory.count(&key), &bytes(1), Timestamp::MAX));
        assert!(memory.get(&key, NOW).is_some());
        std::thread::sleep(Duration::from_millis(40));
        assert!(memory.get(&key, NOW).is_none());
    }

    #[test]
    fn a_count_ends_when_everything_is_forgotten() {
        let memory = LocalCache::new(10_000, None);
        let key = CacheKey::new("shop", 1);
        let count = memory.count(&key);
        memory.clear();
        assert!(!memory.put(&key, count, &bytes(1), Timestamp::MAX));
        assert!(memory.put(&key, memory.count(&key), &bytes(1), Timestamp::MAX));
        assert!(memory.get(&key, NOW).is_some(), "what is put after is there");
    }
}
