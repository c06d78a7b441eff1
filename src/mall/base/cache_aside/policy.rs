//! Cached values, and how long they stay.

use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::{CacheKey, Storage, StoreError, Timestamp};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::id_filter::CacheId;

/// A cached value of the database.
#[async_trait]
pub trait Cached: Clone + Serialize + DeserializeOwned + Send + Sync + 'static {
    /// The first part of the cache key: letters and `-`.
    const KIND: &'static str;
    /// The id under which the value is cached.
    type Id: CacheId;

    /// Reads the value from the database, as of `now`.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read.
    async fn load(storage: &Storage, id: Self::Id, now: Timestamp) -> Result<Option<Self>, StoreError>;
}

/// Cache policy for one kind of values. Durations are measured by the mall's clock, except `patience` and
/// `slow`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Policy {
    /// TTL of a fresh entry, served without any revalidation. A change made directly in the database is
    /// visible after this time.
    pub fresh: Duration,
    /// Stale-while-revalidate window after `fresh`. Zero disables stale reads.
    pub stale: Duration,
    /// TTL of a negative cache entry. Zero disables negative caching.
    pub absent: Duration,
    /// Whether a distributed lock restricts the load of a missing value to one instance at a time.
    pub turns: bool,
    /// Maximum number of waiting callers per key.
    pub waiters: usize,
    /// Maximum number of concurrent database reads.
    pub loads: usize,
    /// Longest wait of a caller before load shedding, in real time.
    pub patience: Duration,
    /// Threshold at which a database read counts as slow, in real time. Slow reads run one at a time.
    pub slow: Duration,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            fresh: Duration::from_secs(30),
            stale: Duration::from_secs(10 * 60),
            absent: Duration::from_secs(5),
            turns: true,
            // Each waiter is a task of less than 1 KiB.
            waiters: 20_000,
            loads: 64,
            // A call must return within 1.5 s.
            patience: Duration::from_secs(1),
            slow: Duration::from_millis(400),
        }
    }
}

/// Returns the cache key of a value.
pub(super) fn key<V: Cached>(id: V::Id) -> CacheKey {
    CacheKey::new(V::KIND, id.number())
}
