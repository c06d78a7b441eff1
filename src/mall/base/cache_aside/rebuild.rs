//! Loading a missing or stale value from the database, once for all callers.

use std::sync::Arc;
use std::time::Duration;

use mallbox_storage::{CacheKey, HeldLock, LeasedLookup, LockOwner, Locker, Storage, StoreError, Timestamp};

use super::entry::Entry;
use super::load_limiter::LoadLimiter;
use super::metrics::{CacheEvent, CacheMetrics};
use super::policy::{Cached, Policy, key};
use crate::mall::base::single_flight::SingleFlight;

/// Lease of the distributed lock: how long the lock outlives an instance that dies while loading.
const LEASE: Duration = Duration::from_secs(2);
/// Longest wait for another instance's lock. After a longer wait, this instance reads the database too.
const LOCK_TIMEOUT: Duration = Duration::from_millis(400);

/// Why a load returned no value.
#[derive(Clone, Debug)]
pub(super) enum LoadError {
    /// Rejected by load shedding: the database is slow, and enough reads are running.
    Slow,
    /// The database failed.
    Store(Arc<StoreError>),
}

/// Shared state of a cache.
pub(super) struct Inner<V: Cached> {
    pub(super) storage: Storage,
    pub(super) policy: Policy,
    pub(super) figures: Arc<CacheMetrics>,
    pub(super) gate: LoadLimiter,
    pub(super) loads: SingleFlight<V::Id, Result<Option<Arc<V>>, LoadError>>,
    pub(super) turns: Locker,
    /// Owner of this instance's distributed locks.
    pub(super) owner: LockOwner,
}

impl<V: Cached> Inner<V> {
    /// Returns the cached entry, and whether the local cache was hit. An unreachable cache counts as a miss.
    pub(super) async fn kept(&self, id: V::Id, now: Timestamp) -> Option<(Arc<Entry<Arc<V>>>, bool)> {
        let kept = self.storage.base.cache.get(&key::<V>(id), now).await.ok()??;
        Some((Entry::<V>::read(&kept, now)?, kept.is_near))
    }

    /// Loads the value from the database, unless another instance has just cached a fresh one.
    pub(super) async fn rebuild(&self, id: V::Id, now: Timestamp) -> Result<Option<Arc<V>>, LoadError> {
        let key = key::<V>(id);
        // Released at the end: the next holder then finds the entry in the cache.
        let _turn = self.turn(&key).await;
        let lookup = self.storage.base.cache.look(&key, now).await.ok();
        if let Some(entry) = lookup.as_ref().and_then(|lookup| fresh::<V>(lookup, now)) {
            return Ok(entry.value.clone());
        }
        let load = async {
            self.figures.count(CacheEvent::Rebuild);
            V::load(&self.storage, id, now).await
        };
        let found = self.gate.pass(load).await.ok_or(LoadError::Slow)?;
        let found = found.map_err(|error| LoadError::Store(Arc::new(error)))?;
        if let Some(lookup) = lookup {
            self.keep(&key, lookup, id, found.clone(), now).await;
        }
        Ok(found.map(Arc::new))
    }

    /// Stores the value in the cache. If that fails, the next caller reads the database again.
    async fn keep(&self, key: &CacheKey, lookup: LeasedLookup, id: V::Id, found: Option<V>, now: Timestamp) {
        let (entry, expires_at) = Entry::<V>::new(id, found, &self.policy, now);
        let Some(bytes) = entry.bytes().filter(|_| now < expires_at) else { return };
        if let Err(error) = self.storage.base.cache.put(key, lookup.lease, bytes, expires_at, now).await {
            tracing::debug!(key = %key, %error, "could not store a cache entry");
        }
    }

    /// Acquires the distributed lock for this key. Returns `None` without other instances, or if the lock is
    /// not acquired in time: then several instances read the same value.
    async fn turn(&self, key: &CacheKey) -> Option<HeldLock> {
        if !self.policy.turns || !self.storage.base.locks.are_shared() {
            return None;
        }
        let name = format!("cache:{key}");
        let turn = self.turns.hold(&name, self.owner, LEASE, LOCK_TIMEOUT);
        // The timeout also covers a lock service without a response.
        tokio::time::timeout(LOCK_TIMEOUT, turn).await.ok()?.ok()?
    }
}

fn fresh<V: Cached>(lookup: &LeasedLookup, now: Timestamp) -> Option<Arc<Entry<Arc<V>>>> {
    let kept = lookup.kept.as_ref()?;
    Entry::<V>::read(kept, now).filter(|entry| now < entry.fresh_until)
}
