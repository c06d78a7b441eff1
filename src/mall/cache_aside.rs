//! Cache-aside reads of the database, with a defence against each common failure.
//!
//! | failure | defence |
//! | --- | --- |
//! | cache penetration: reads of ids that do not exist | a Bloom filter, then short negative cache entries |
//! | mass expiry at one instant | TTL jitter of up to 10 % per entry |
//! | a hot entry expires | single-flight: one read for all waiters; stale-while-revalidate |
//! | several instances miss the same key | a distributed lock, waited for only briefly |
//! | a slow database | concurrency limit, bounded waiting, then load shedding; stale entries are served |
//! | a write overtakes a read | leases: the old value is not stored, see [`Cache`](mallbox_storage::Cache) |
//!
//! Reasons and figures: `src/decisions/0008-cache-aside.md`.

mod entry;
mod figures;
mod gate;
mod ids;
mod rebuild;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::{CacheKey, LockOwner, Locker, Storage, StoreError, Timestamp};
use serde::Serialize;
use serde::de::DeserializeOwned;

use self::entry::Entry;
use self::gate::LoadLimiter;
use self::rebuild::LoadError;
use super::flights::SingleFlight;
use super::{Failure, Refusal};

pub use self::figures::{CacheEvent, CacheMetrics};
pub use self::ids::{CacheId, IdFilter, Listed};

/// A value in the database that is cached.
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
    /// TTL of a fresh entry, served without any revalidation. A change made directly in the database shows up
    /// only after this time.
    pub fresh: Duration,
    /// Stale-while-revalidate window after `fresh`. Zero disables stale reads.
    pub stale: Duration,
    /// TTL of a negative cache entry. Zero disables negative caching.
    pub absent: Duration,
    /// Whether a distributed lock lets only one instance at a time load a missing value.
    pub turns: bool,
    /// Maximum number of callers that wait for one key.
    pub waiters: usize,
    /// Maximum number of concurrent database reads.
    pub loads: usize,
    /// Longest wait of a caller before load shedding, in real time.
    pub patience: Duration,
    /// Threshold at which a database read counts as slow, in real time. While reads are slow, only one runs
    /// at a time.
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

/// Cache of one kind of values. Cheap to clone; clones share their state.
#[derive(Clone)]
pub struct CacheAside<V: Cached> {
    inner: Arc<Inner<V>>,
}

struct Inner<V: Cached> {
    storage: Storage,
    policy: Policy,
    figures: Arc<CacheMetrics>,
    gate: LoadLimiter,
    flights: SingleFlight<V::Id, Result<Option<Arc<V>>, LoadError>>,
    turns: Locker,
    /// Owner of this instance's distributed locks.
    owner: LockOwner,
}

impl<V: Cached> CacheAside<V> {
    /// Creates a cache with the given policy.
    #[must_use]
    pub fn new(storage: &Storage, policy: Policy) -> Self {
        let inner = Inner {
            policy,
            figures: Arc::new(CacheMetrics::new(V::KIND)),
            gate: LoadLimiter::new(policy.loads, policy.slow),
            flights: SingleFlight::default(),
            turns: Locker::new(Arc::clone(&storage.base.locks)),
            owner: LockOwner::random(),
            storage: storage.clone(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Returns the counters.
    #[must_use]
    pub fn figures(&self) -> Arc<CacheMetrics> {
        Arc::clone(&self.inner.figures)
    }

    /// Returns the value as [`get`](Self::get) does, unless the Bloom filter rules out the id.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub async fn get_listed(
        &self,
        ids: &IdFilter<V::Id>,
        id: V::Id,
        now: Timestamp,
    ) -> Result<Option<V>, Failure>
    where
        V::Id: Listed,
    {
        if ids.may_be(id) {
            return self.get(id, now).await;
        }
        self.inner.figures.count(CacheEvent::Filtered);
        Ok(None)
    }

    /// Returns a value that may be as old as the [`Policy`] allows; `None` if the database has none.
    ///
    /// # Errors
    /// [`Refusal::Busy`] if there is no cached entry and the read is shed because the database is slow or too
    /// many callers wait; [`Failure::Store`] if the database fails.
    pub async fn get(&self, id: V::Id, now: Timestamp) -> Result<Option<V>, Failure> {
        let Inner { figures, .. } = &*self.inner;
        let Some((entry, is_near)) = self.inner.kept(id, now).await else {
            figures.count(CacheEvent::Miss);
            return self.rebuilt(id, now).await;
        };
        figures.count(if is_near { CacheEvent::NearHit } else { CacheEvent::Hit });
        if entry.value.is_none() {
            figures.count(CacheEvent::Absent);
        }
        if now >= entry.fresh_until {
            figures.count(CacheEvent::Stale);
            self.rebuild_behind(id, now);
        }
        Ok(entry.value)
    }

    /// Invalidates entries after a change in the database. From now on no reader in this process gets an
    /// earlier value; readers in other instances follow once the invalidation message arrives.
    pub async fn changed(&self, ids: &[V::Id]) {
        let keys: Vec<CacheKey> = ids.iter().map(|id| key::<V>(*id)).collect();
        if let Err(error) = self.inner.storage.base.cache.forget(&keys).await {
            tracing::warn!(kind = V::KIND, %error, "could not invalidate cached entries on all instances");
        }
        for id in ids {
            self.inner.flights.part(id);
        }
    }

    /// Revalidates in the background while the stale entry is served. Skipped if a load of this key is under
    /// way or the database is overloaded.
    fn rebuild_behind(&self, id: V::Id, now: Timestamp) {
        if self.inner.gate.is_shut() {
            self.inner.figures.count(CacheEvent::Shed);
        } else if self.inner.flights.waiting(&id) == 0 {
            drop(self.spawned(id, now));
        }
    }

    /// Waits for a database read that all callers of this key share.
    async fn rebuilt(&self, id: V::Id, now: Timestamp) -> Result<Option<V>, Failure> {
        let Policy { waiters, patience, .. } = self.inner.policy;
        if self.inner.flights.waiting(&id) >= waiters {
            return Err(self.shed());
        }
        match tokio::time::timeout(patience, self.spawned(id, now)).await {
            Ok(Ok(Ok(found))) => Ok(found.map(|value| V::clone(&value))),
            Ok(Ok(Err(LoadError::Slow))) | Err(_) => Err(self.shed()),
            Ok(Ok(Err(LoadError::Store(error)))) => Err(super::flights::shared(V::KIND, &error).into()),
            Ok(Err(error)) => Err(Failure::Bug(format!("reading for the cache broke off: {error}"))),
        }
    }

    fn shed(&self) -> Failure {
        self.inner.figures.count(CacheEvent::Shed);
        Refusal::Busy.into()
    }

    /// Loads in a task of its own, so that a caller that gives up does not cancel the load for other waiters.
    fn spawned(
        &self,
        id: V::Id,
        now: Timestamp,
    ) -> tokio::task::JoinHandle<Result<Option<Arc<V>>, LoadError>> {
        let inner = Arc::clone(&self.inner);
        tokio::spawn(async move { inner.flights.share(id, || inner.rebuild(id, now)).await })
    }
}

fn key<V: Cached>(id: V::Id) -> CacheKey {
    CacheKey::new(V::KIND, id.number())
}

impl<V: Cached> Inner<V> {
    /// Returns the cached entry, and whether the local cache had it. An unreachable cache counts as a miss.
    async fn kept(&self, id: V::Id, now: Timestamp) -> Option<(Entry<V>, bool)> {
        let kept = self.storage.base.cache.get(&key::<V>(id), now).await.ok()??;
        Some((Entry::read(&kept.bytes, now)?, kept.is_near))
    }
}
