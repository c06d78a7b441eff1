//! What is forgotten, and Redis has not heard; or has heard so lately that a replica in its place may not have.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use crate::CacheKey;

/// A server that takes another's place lacks at most this much of what the other heard. Copies are hardly fresh for longer.
const LAG_MAX: Duration = Duration::from_secs(30);
/// Keys that were told within that span and are remembered: 1 MB at the most.
const TOLD_MAX: usize = 8_192;

/// Keys that Redis may still have something old under. Not more than are written to the record while it is away, and writers
/// need Redis to be known.
#[derive(Default)]
pub(super) struct Untold {
    /// How many, so that whoever reads need not lock.
    count: AtomicUsize,
    keys: Mutex<Keys>,
}

#[derive(Default)]
struct Keys {
    /// Which time it was that a key was to be forgotten last: who told of an earlier time has not told of this one.
    numbers: HashMap<CacheKey, u64>,
    last: u64,
    /// The oldest first.
    told: VecDeque<(Instant, CacheKey)>,
}

impl Untold {
    pub(super) fn has(&self, key: &CacheKey) -> bool {
        self.count.load(Ordering::SeqCst) > 0 && self.keys.lock().numbers.contains_key(key)
    }

    /// Each with its number.
    pub(super) fn add(&self, keys: &[CacheKey]) -> Vec<(CacheKey, u64)> {
        let mut all = self.keys.lock();
        all.last += 1;
        let number = all.last;
        all.numbers.extend(keys.iter().map(|key| (key.clone(), number)));
        self.count.store(all.numbers.len(), Ordering::SeqCst);
        keys.iter().map(|key| (key.clone(), number)).collect()
    }

    /// Redis has heard of the time with this number.
    pub(super) fn told(&self, key: &CacheKey, number: u64) {
        let mut all = self.keys.lock();
        if all.numbers.get(key) == Some(&number) {
            all.numbers.remove(key);
            all.told.push_back((Instant::now(), key.clone()));
            while all.told.len() > TOLD_MAX || all.told.front().is_some_and(|(at, _)| at.elapsed() >= LAG_MAX)
            {
                all.told.pop_front();
            }
        }
        self.count.store(all.numbers.len(), Ordering::SeqCst);
    }

    /// Another server may have come in Redis' place: what was told lately is to be told again.
    pub(super) fn doubt(&self) {
        let told = std::mem::take(&mut self.keys.lock().told);
        let live = told.into_iter().filter(|(at, _)| at.elapsed() < LAG_MAX);
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
    fn a_key_that_changed_again_meanwhile_is_still_to_be_told() {
        let (untold, key) = (Untold::default(), CacheKey::new("shop", 1));
        let first = untold.add(std::slice::from_ref(&key));
        let second = untold.add(std::slice::from_ref(&key));
        untold.told(&key, first[0].1);
        assert!(untold.has(&key));
        untold.told(&key, second[0].1);
        assert!(!untold.has(&key) && untold.all().is_empty());
        untold.doubt();
        assert!(untold.has(&key), "told to another server");
    }
}
