//! Reading through a cache, with a defence against each of the ways in which that goes wrong.
//!
//! | what may happen | what is done |
//! | --- | --- |
//! | many ask for what is not there | that it is not there is kept too, briefly; a filter of ids refuses most of them before |
//! | much expires at one instant | spans are shortened by up to a tenth, each entry's by its own share |
//! | what all ask for expires | one reads the record for all who wait; what is a little too old is served meanwhile |
//! | several instances need the same | they take turns, by a lock that is not waited for long |
//! | the record is slow | only so many ask it, and so many wait; the others are turned away, and the old is served on |
//! | a reader is overtaken by a change | what it read is not kept: see [`Cache`](mallbox_storage::Cache) |

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
use self::gate::Gate;
use self::rebuild::Trouble;
use super::flights::Flights;
use super::{Failure, Refusal};

pub use self::figures::{CacheFigures, Counted};
pub use self::ids::{CacheId, IdFilter, Listed};

/// Something in the record of which copies are kept.
#[async_trait]
pub trait Cached: Clone + Serialize + DeserializeOwned + Send + Sync + 'static {
    /// What it is called: letters and `-`.
    const KIND: &'static str;
    /// What it is known by.
    type Id: CacheId;

    /// Reads it in the record, as it is at `now`.
    ///
    /// # Errors
    /// [`StoreError`].
    async fn load(storage: &Storage, id: Self::Id, now: Timestamp) -> Result<Option<Self>, StoreError>;
}

/// How copies of a kind are kept. The spans are by the mall's clock, but for `patience` and `slow`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Policy {
    /// How long a copy is served and nobody looks: what is changed past the mall is seen so late.
    pub fresh: Duration,
    /// How long after that it is served still, while one looks. Zero: not at all.
    pub stale: Duration,
    /// How long it is known that there is nothing. Zero: not at all.
    pub absent: Duration,
    /// Whether instances take turns to read what none of them has.
    pub turns: bool,
    /// How many may wait for one of them at once.
    pub waiters: usize,
    /// How many may be read at once.
    pub loads: usize,
    /// How long one waits, in real time, before it is turned away.
    pub patience: Duration,
    /// A record that takes so long, in real time, is slow: until it is quick again, one at a time asks it.
    pub slow: Duration,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            fresh: Duration::from_secs(30),
            stale: Duration::from_secs(10 * 60),
            absent: Duration::from_secs(5),
            turns: true,
            // Each is a task of less than 1 KiB.
            waiters: 20_000,
            loads: 64,
            // A call answers within 1.5 s.
            patience: Duration::from_secs(1),
            slow: Duration::from_millis(400),
        }
    }
}

/// Copies of one kind of things. Cheap to clone; clones are one.
#[derive(Clone)]
pub struct CacheAside<V: Cached> {
    inner: Arc<Inner<V>>,
}

struct Inner<V: Cached> {
    storage: Storage,
    policy: Policy,
    figures: Arc<CacheFigures>,
    gate: Gate,
    flights: Flights<V::Id, Result<Option<Arc<V>>, Trouble>>,
    turns: Locker,
    /// Of the turns of this instance.
    owner: LockOwner,
}

impl<V: Cached> CacheAside<V> {
    /// Kept like this.
    #[must_use]
    pub fn new(storage: &Storage, policy: Policy) -> Self {
        let inner = Inner {
            policy,
            figures: Arc::new(CacheFigures::new(V::KIND)),
            gate: Gate::new(policy.loads, policy.slow),
            flights: Flights::default(),
            turns: Locker::new(Arc::clone(&storage.locks)),
            owner: LockOwner::random(),
            storage: storage.clone(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// What has been counted.
    #[must_use]
    pub fn figures(&self) -> Arc<CacheFigures> {
        Arc::clone(&self.inner.figures)
    }

    /// The same, unless the filter knows that there is no such thing.
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
        self.inner.figures.count(Counted::Filtered);
        Ok(None)
    }

    /// A copy that may be as old as the [`Policy`] says; `None` for nothing.
    ///
    /// # Errors
    /// [`Refusal::Busy`] if the record is slow and there is no copy; or it is in trouble.
    pub async fn get(&self, id: V::Id, now: Timestamp) -> Result<Option<V>, Failure> {
        let Inner { figures, .. } = &*self.inner;
        let Some((entry, is_near)) = self.inner.kept(id, now).await else {
            figures.count(Counted::Miss);
            return self.rebuilt(id, now).await;
        };
        figures.count(if is_near { Counted::NearHit } else { Counted::Hit });
        if entry.value.is_none() {
            figures.count(Counted::Absent);
        }
        if now >= entry.fresh_until {
            figures.count(Counted::Stale);
            self.rebuild_behind(id, now);
        }
        Ok(entry.value)
    }

    /// These have changed in the record: from now on nobody here gets what was before, and nobody elsewhere once they have
    /// heard of it.
    pub async fn changed(&self, ids: &[V::Id]) {
        let keys: Vec<CacheKey> = ids.iter().map(|id| key::<V>(*id)).collect();
        if let Err(error) = self.inner.storage.cache.forget(&keys).await {
            tracing::warn!(kind = V::KIND, %error, "other instances may serve what was before a change");
        }
        for id in ids {
            self.inner.flights.part(id);
        }
    }

    /// Has it rebuilt while the old one is served, unless somebody is at it, or the record has enough to do.
    fn rebuild_behind(&self, id: V::Id, now: Timestamp) {
        if self.inner.gate.is_shut() {
            self.inner.figures.count(Counted::Shed);
        } else if self.inner.flights.waiting(&id) == 0 {
            drop(self.spawned(id, now));
        }
    }

    /// Waits for a reading of the record that is shared with all who wait.
    async fn rebuilt(&self, id: V::Id, now: Timestamp) -> Result<Option<V>, Failure> {
        let Policy { waiters, patience, .. } = self.inner.policy;
        if self.inner.flights.waiting(&id) >= waiters {
            return Err(self.shed());
        }
        match tokio::time::timeout(patience, self.spawned(id, now)).await {
            Ok(Ok(Ok(found))) => Ok(found.map(|value| V::clone(&value))),
            Ok(Ok(Err(Trouble::Slow))) | Err(_) => Err(self.shed()),
            Ok(Ok(Err(Trouble::Store(error)))) => Err(super::flights::shared(V::KIND, &error).into()),
            Ok(Err(error)) => Err(Failure::Bug(format!("reading for the cache broke off: {error}"))),
        }
    }

    fn shed(&self) -> Failure {
        self.inner.figures.count(Counted::Shed);
        Refusal::Busy.into()
    }

    /// In a task of its own: who gives up waiting breaks off nothing that others wait for.
    fn spawned(&self, id: V::Id, now: Timestamp) -> tokio::task::JoinHandle<Result<Option<Arc<V>>, Trouble>> {
        let inner = Arc::clone(&self.inner);
        tokio::spawn(async move { inner.flights.share(id, || inner.rebuild(id, now)).await })
    }
}

fn key<V: Cached>(id: V::Id) -> CacheKey {
    CacheKey::new(V::KIND, id.number())
}

impl<V: Cached> Inner<V> {
    /// What is kept, and whether near. A cache that is away has nothing.
    async fn kept(&self, id: V::Id, now: Timestamp) -> Option<(Entry<V>, bool)> {
        let kept = self.storage.cache.get(&key::<V>(id), now).await.ok()??;
        Some((Entry::read(&kept.bytes, now)?, kept.is_near))
    }
}
