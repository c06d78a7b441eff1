//! What a process keeps in its own memory.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use super::{CacheKey, CacheTicket, Kept};
use crate::Timestamp;

/// Counts of forgetting, each shared by the keys of one hash: a ticket that ends for another key's sake costs one reading.
const COUNTS: usize = 1024;
/// What an entry takes beside its bytes, about.
const BESIDE: usize = 200;

/// Entries up to so many bytes; those that are asked for often stay.
pub(crate) struct Memory {
    kept: moka::sync::Cache<CacheKey, Kept>,
    hasher: RandomState,
    /// Held while an entry of theirs is put or forgotten, so that no old one is seen between the two.
    forgotten: Box<[Mutex<u64>]>,
}

impl Memory {
    /// `lives`: how long an entry is kept by real time, if that is bounded.
    pub(crate) fn new(bytes: u64, lives: Option<Duration>) -> Self {
        let weight = |_: &CacheKey, kept: &Kept| u32::try_from(kept.bytes.len() + BESIDE).unwrap_or(u32::MAX);
        let kept = moka::sync::Cache::builder().max_capacity(bytes).weigher(weight);
        let kept = match lives {
            Some(lives) => kept.time_to_live(lives).build(),
            None => kept.build(),
        };
        let forgotten = (0..COUNTS).map(|_| Mutex::default()).collect();
        Self { kept, hasher: RandomState::new(), forgotten }
    }

    pub(crate) fn get(&self, key: &CacheKey, now: Timestamp) -> Option<Kept> {
        self.kept.get(key).filter(|kept| now < kept.expires_at)
    }

    /// What a ticket has to know.
    pub(crate) fn count(&self, key: &CacheKey) -> u64 {
        *self.count_of(key).lock()
    }

    /// Whether it was kept: not if the key was forgotten since the count was taken.
    pub(crate) fn put(&self, key: &CacheKey, count: u64, bytes: &Arc<[u8]>, expires_at: Timestamp) -> bool {
        let now = self.count_of(key).lock();
        let is_good = *now == count && bytes.len() <= CacheTicket::MAX_BYTES;
        if is_good {
            self.kept.insert(key.clone(), Kept { bytes: Arc::clone(bytes), expires_at, is_near: true });
        }
        is_good
    }

    pub(crate) fn forget(&self, key: &CacheKey) {
        let mut count = self.count_of(key).lock();
        *count += 1;
        self.kept.invalidate(key);
    }

    pub(crate) fn clear(&self) {
        // All at once: nobody finds the old entry after the one that was to take its place was refused.
        let mut counts: Vec<_> = self.forgotten.iter().map(Mutex::lock).collect();
        for count in &mut counts {
            **count += 1;
        }
        self.kept.invalidate_all();
    }

    fn count_of(&self, key: &CacheKey) -> &Mutex<u64> {
        let hash = self.hasher.hash_one(key);
        &self.forgotten[usize::try_from(hash % COUNTS as u64).unwrap_or(0)]
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
        let memory = Memory::new(10_000, None);
        for id in 0..1_000 {
            let key = CacheKey::new("shop", id);
            memory.put(&key, memory.count(&key), &bytes(100), NOW + Duration::from_secs(9));
        }
        memory.kept.run_pending_tasks();
        assert!(memory.kept.weighted_size() <= 10_000, "{}", memory.kept.weighted_size());
        assert!(memory.kept.entry_count() > 20, "{}", memory.kept.entry_count());
        let key = CacheKey::new("shop", 1_000);
        assert!(!memory.put(&key, memory.count(&key), &bytes(CacheTicket::MAX_BYTES + 1), NOW));
    }

    #[test]
    fn an_entry_lives_no_longer_than_it_may_by_real_time_either() {
        let memory = Memory::new(10_000, Some(Duration::from_millis(30)));
        let key = CacheKey::new("shop", 1);
        assert!(memory.put(&key, memory.count(&key), &bytes(1), Timestamp::MAX));
        assert!(memory.get(&key, NOW).is_some());
        std::thread::sleep(Duration::from_millis(40));
        assert!(memory.get(&key, NOW).is_none());
    }

    #[test]
    fn a_count_ends_when_everything_is_forgotten() {
        let memory = Memory::new(10_000, None);
        let key = CacheKey::new("shop", 1);
        let count = memory.count(&key);
        memory.clear();
        assert!(!memory.put(&key, count, &bytes(1), Timestamp::MAX));
        assert!(memory.put(&key, memory.count(&key), &bytes(1), Timestamp::MAX));
        assert!(memory.get(&key, NOW).is_some(), "what is put after is there");
    }
}
