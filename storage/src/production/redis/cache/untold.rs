//! What is forgotten, and Redis has not heard.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;

use crate::CacheKey;

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
        }
        self.count.store(all.numbers.len(), Ordering::SeqCst);
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
    }
}
