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
mod id_filter;
mod load_limiter;
mod metrics;
mod policy;
mod rebuild;

use std::sync::Arc;

use mallbox_storage::{CacheKey, LockOwner, Locker, Storage, Timestamp};

use self::load_limiter::LoadLimiter;
use self::policy::key;
use self::rebuild::{Inner, LoadError};
use super::single_flight::SingleFlight;
use super::{Failure, Refusal};

pub use self::id_filter::{CacheId, IdFilter, Listed};
pub use self::metrics::{CacheEvent, CacheMetrics};
pub use self::policy::{Cached, Policy};

/// Cache of one kind of values. Cheap to clone; clones share their state.
#[derive(Clone)]
pub struct CacheAside<V: Cached> {
    inner: Arc<Inner<V>>,
}

impl<V: Cached> CacheAside<V> {
    /// Creates a cache with the given policy.
    #[must_use]
    pub fn new(storage: &Storage, policy: Policy) -> Self {
        let inner = Inner {
            policy,
            figures: Arc::new(CacheMetrics::new(V::KIND)),
            gate: LoadLimiter::new(policy.loads, policy.slow),
            loads: SingleFlight::default(),
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

    /// Returns the value as [`shared`](Self::shared) does, unless the Bloom filter rules out the id.
    ///
    /// # Errors
    /// As [`shared`](Self::shared).
    pub async fn get_listed(
        &self,
        ids: &IdFilter<V::Id>,
        id: V::Id,
        now: Timestamp,
    ) -> Result<Option<Arc<V>>, Failure>
    where
        V::Id: Listed,
    {
        if ids.may_be(id) {
            return self.shared(id, now).await;
        }
        self.inner.figures.count(CacheEvent::Filtered);
        Ok(None)
    }

    /// Returns a value, possibly as old as the [`Policy`] allows; `None` if missing in the database.
    ///
    /// # Errors
    /// [`Refusal::Busy`] if there is no cached entry and the read is shed because the database is slow or too
    /// many callers wait; [`Failure::Store`] if the database fails.
    pub async fn get(&self, id: V::Id, now: Timestamp) -> Result<Option<V>, Failure> {
        Ok(self.shared(id, now).await?.map(Arc::unwrap_or_clone))
    }

    /// Returns the value as [`get`](Self::get) does, without copying a cached one.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub async fn shared(&self, id: V::Id, now: Timestamp) -> Result<Option<Arc<V>>, Failure> {
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
        Ok(entry.value.clone())
    }

    /// Invalidates entries after a change in the database. After the call, no reader in this process gets an
    /// earlier value; readers in other instances follow once the invalidation message arrives.
    pub async fn changed(&self, ids: &[V::Id]) {
        let keys: Vec<CacheKey> = ids.iter().map(|id| key::<V>(*id)).collect();
        if let Err(error) = self.inner.storage.base.cache.forget(&keys).await {
            tracing::warn!(kind = V::KIND, %error, "could not invalidate cached entries on all instances");
        }
        for id in ids {
            self.inner.loads.part(id);
        }
    }

    /// Revalidates in the background while the stale entry is served. Skipped if a load of this key is under
    /// way or the database is overloaded.
    fn rebuild_behind(&self, id: V::Id, now: Timestamp) {
        if self.inner.gate.is_shut() {
            self.inner.figures.count(CacheEvent::Shed);
        } else if self.inner.loads.waiting(&id) == 0 {
            drop(self.spawned(id, now));
        }
    }

    /// Waits for the database read shared by all callers of this key.
    async fn rebuilt(&self, id: V::Id, now: Timestamp) -> Result<Option<Arc<V>>, Failure> {
        let Policy { waiters, patience, .. } = self.inner.policy;
        if self.inner.loads.waiting(&id) >= waiters {
            return Err(self.shed());
        }
        match tokio::time::timeout(patience, self.spawned(id, now)).await {
            Ok(Ok(Ok(found))) => Ok(found),
            Ok(Ok(Err(LoadError::Slow))) | Err(_) => Err(self.shed()),
            Ok(Ok(Err(LoadError::Store(error)))) => Err(super::single_flight::shared(V::KIND, &error).into()),
            Ok(Err(error)) => Err(Failure::Bug(format!("the load for the cache entry panicked: {error}"))),
        }
    }

    fn shed(&self) -> Failure {
        self.inner.figures.count(CacheEvent::Shed);
        Refusal::Busy.into()
    }

    /// Loads in a separate task: a caller giving up does not cancel the load for other waiters.
    fn spawned(
        &self,
        id: V::Id,
        now: Timestamp,
    ) -> tokio::task::JoinHandle<Result<Option<Arc<V>>, LoadError>> {
        let inner = Arc::clone(&self.inner);
        tokio::spawn(async move { inner.loads.share(id, || inner.rebuild(id, now)).await })
    }
}
