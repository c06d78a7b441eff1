//! Reading the record for everybody.

use std::sync::Arc;
use std::time::Duration;

use mallbox_storage::{CacheKey, HeldLock, Looked, StoreError, Timestamp};

use super::{Cached, Counted, Entry, Inner, key};

/// How long a turn outlives an instance that died in it.
const LEASE: Duration = Duration::from_secs(2);
/// How long another instance's turn is waited for. A holder that takes longer is not the last hope.
const TURN_WITHIN: Duration = Duration::from_millis(400);

/// Why nothing can be said.
#[derive(Clone, Debug)]
pub(super) enum Trouble {
    /// The record is slow, and enough ask it.
    Slow,
    /// It does not answer.
    Store(Arc<StoreError>),
}

impl<V: Cached> Inner<V> {
    /// What there is, from the record unless somebody else has just kept it.
    pub(super) async fn rebuild(&self, id: V::Id, now: Timestamp) -> Result<Option<Arc<V>>, Trouble> {
        let key = key::<V>(id);
        // Left when this is done, so that the next one finds what was kept.
        let _turn = self.turn(&key).await;
        let looked = self.storage.cache.look(&key, now).await.ok();
        if let Some(entry) = looked.as_ref().and_then(|looked| fresh::<V>(looked, now)) {
            return Ok(entry.value.map(Arc::new));
        }
        let load = async {
            self.figures.count(Counted::Rebuild);
            V::load(&self.storage, id, now).await
        };
        let found = self.gate.pass(load).await.ok_or(Trouble::Slow)?;
        let found = found.map_err(|error| Trouble::Store(Arc::new(error)))?;
        if let Some(looked) = looked {
            self.keep(&key, looked, id, found.clone(), now).await;
        }
        Ok(found.map(Arc::new))
    }

    /// What cannot be kept is read again.
    async fn keep(&self, key: &CacheKey, looked: Looked, id: V::Id, found: Option<V>, now: Timestamp) {
        let (entry, expires_at) = Entry::<V>::new(id, found, &self.policy, now);
        let Some(bytes) = entry.bytes().filter(|_| now < expires_at) else { return };
        if let Err(error) = self.storage.cache.put(key, looked.ticket, bytes, expires_at, now).await {
            tracing::debug!(key = %key, %error, "a copy could not be kept");
        }
    }

    /// This instance's turn among all; `None` without others, or if it does not come: then several read the same.
    async fn turn(&self, key: &CacheKey) -> Option<HeldLock> {
        if !self.policy.turns || !self.storage.locks.are_shared() {
            return None;
        }
        let name = format!("cache:{key}");
        let turn = self.turns.hold(&name, self.owner, LEASE, TURN_WITHIN);
        // Locks that do not answer are not waited for longer than those that are held.
        tokio::time::timeout(TURN_WITHIN, turn).await.ok()?.ok()?
    }
}

fn fresh<V: Cached>(looked: &Looked, now: Timestamp) -> Option<Entry<V>> {
    let kept = looked.kept.as_ref()?;
    Entry::read(&kept.bytes, now).filter(|entry| now < entry.fresh_until)
}
