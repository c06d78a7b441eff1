//! A bounded map of recent entries.

use std::collections::HashMap;
use std::hash::Hash;
use std::mem;

/// Keeps at least the last `room` entries and at most twice as many. When the young half is full, the old
/// half is evicted.
///
/// Evicted entries must be recoverable from elsewhere.
#[derive(Clone, Debug)]
pub(in crate::mall) struct Recent<K, V> {
    young: HashMap<K, V>,
    old: HashMap<K, V>,
    room: usize,
}

impl<K: Hash + Eq, V: Copy> Recent<K, V> {
    pub(in crate::mall) fn new(room: usize) -> Self {
        Self { young: HashMap::new(), old: HashMap::new(), room }
    }

    pub(in crate::mall) fn get(&self, key: &K) -> Option<V> {
        self.young.get(key).or_else(|| self.old.get(key)).copied()
    }

    pub(in crate::mall) fn insert(&mut self, key: K, value: V) {
        if self.young.len() >= self.room && !self.young.contains_key(&key) {
            self.old = mem::take(&mut self.young);
        }
        self.old.remove(&key);
        self.young.insert(key, value);
    }

    pub(in crate::mall) fn remove(&mut self, key: &K) {
        self.young.remove(key);
        self.old.remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_ones_are_remembered_and_there_are_never_more_than_twice_as_many() {
        let mut recent = Recent::new(10);
        for number in 0..1_000 {
            recent.insert(number, number * 2);
            assert!(recent.young.len() + recent.old.len() <= 20);
            for last in (number - 9).max(0)..=number {
                assert_eq!(recent.get(&last), Some(last * 2));
            }
        }
        assert_eq!(recent.get(&0), None);
    }

    #[test]
    fn the_newest_value_of_a_key_counts_whichever_half_it_was_in() {
        let mut recent = Recent::new(2);
        for (key, value) in [(1, 1), (2, 2), (3, 3), (1, 4)] {
            recent.insert(key, value);
        }
        assert_eq!(recent.get(&1), Some(4));
        recent.remove(&1);
        assert_eq!(recent.get(&1), None);
    }
}
