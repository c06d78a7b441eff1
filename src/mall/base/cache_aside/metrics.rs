//! Cache metrics for one kind of values.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A counted cache event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CacheEvent {
    /// A hit in the cache shared by all instances.
    Hit,
    /// A hit in this process's local cache.
    NearHit,
    /// A miss in both caches.
    Miss,
    /// A hit on a negative cache entry; also counted as a hit.
    Absent,
    /// A hit on a stale entry that is being revalidated; also counted as a hit.
    Stale,
    /// A read of the database.
    Rebuild,
    /// A read rejected by the Bloom filter: the id does not exist.
    Filtered,
    /// A caller rejected, or a revalidation skipped, by load shedding: the database is slow or too many
    /// callers wait.
    Shed,
}

impl CacheEvent {
    /// All events with their names in `/metrics`.
    pub const ALL: [(Self, &'static str); 8] = [
        (Self::Hit, "hit"),
        (Self::NearHit, "near_hit"),
        (Self::Miss, "miss"),
        (Self::Absent, "absent"),
        (Self::Stale, "stale"),
        (Self::Rebuild, "rebuild"),
        (Self::Filtered, "filtered"),
        (Self::Shed, "shed"),
    ];
}

/// Event counters since the process started.
#[derive(Debug)]
pub struct CacheMetrics {
    kind: &'static str,
    counts: [AtomicU64; CacheEvent::ALL.len()],
}

impl CacheMetrics {
    /// Creates counters at zero for values of this kind.
    #[must_use]
    pub fn new(kind: &'static str) -> Self {
        Self { kind, counts: Default::default() }
    }

    /// Returns the kind of the cached values.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// Returns the number of events of this type.
    #[must_use]
    pub fn of(&self, what: CacheEvent) -> u64 {
        self.counts[what as usize].load(Relaxed)
    }

    pub(in crate::mall) fn count(&self, what: CacheEvent) {
        self.counts[what as usize].fetch_add(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_stand_where_their_number_says() {
        for (at, (what, _)) in CacheEvent::ALL.iter().enumerate() {
            assert_eq!(*what as usize, at);
        }
    }
}
