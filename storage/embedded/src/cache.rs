//! The [`Cache`] port in the memory of this process, unshared.

use std::sync::Arc;

use async_trait::async_trait;
use mallbox_storage::backend::LocalCache;
use mallbox_storage::{Cache, CacheEntry, CacheKey, CacheLease, LeasedLookup, StoreError, Timestamp};

/// A cache in memory.
pub(crate) struct EmbeddedCache(LocalCache);

impl EmbeddedCache {
    /// Creates a cache of up to `bytes` bytes.
    pub(crate) fn new(bytes: u64) -> Self {
        Self(LocalCache::new(bytes, None))
    }
}

#[async_trait]
impl Cache for EmbeddedCache {
    async fn get(&self, key: &CacheKey, now: Timestamp) -> Result<Option<CacheEntry>, StoreError> {
        Ok(self.0.get(key, now))
    }

    async fn look(&self, key: &CacheKey, now: Timestamp) -> Result<LeasedLookup, StoreError> {
        let lease = CacheLease { near: self.0.count(key), shared: None };
        Ok(LeasedLookup { kept: self.0.get(key, now), lease })
    }

    async fn put(
        &self,
        key: &CacheKey,
        lease: CacheLease,
        bytes: Arc<[u8]>,
        expires_at: Timestamp,
        _now: Timestamp,
    ) -> Result<bool, StoreError> {
        Ok(self.0.put(key, lease.near, &bytes, expires_at))
    }

    async fn forget(&self, keys: &[CacheKey]) -> Result<(), StoreError> {
        keys.iter().for_each(|key| self.0.forget(key));
        Ok(())
    }

    async fn clear(&self) -> Result<(), StoreError> {
        self.0.clear();
        Ok(())
    }
}
