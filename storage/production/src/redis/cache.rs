//! The [`Cache`] port: one hash per entry in Redis, and a local cache of recently read entries in this
//! process.
//!
//! An entry's hash counts the invalidations of the entry, and outlives an invalidation by a minute. A cache
//! lease ([`CacheLease`]) is that count. A lease expires after half a minute, so no count restarts while an
//! older lease is valid.
//!
//! Reasons and figures: `storage/decisions/0020-cache-leases.md`.

mod pending_invalidations;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::backend::{Decoded, LocalCache};
use mallbox_storage::{Cache, CacheEntry, CacheKey, CacheLease, LeasedLookup, StoreError, Timestamp};
use parking_lot::Mutex;
use tokio::time::Instant;

use self::pending_invalidations::PendingInvalidations;
use super::keys::Keys;
use super::link::{Idempotence, Link};
use super::listener::{Listener, Subscriber};
use super::script::{Call, FORGET, KEEP};
use crate::spans::{EXPIRY_GRACE, millis};

/// Capacity of the local cache, in bytes.
const LOCAL_CACHE_BYTES: u64 = 32 << 20;
/// TTL of local copies: the maximum staleness after a lost invalidation message.
const LOCAL_TTL: Duration = Duration::from_secs(3);
/// Time limit of a read or write of the cache: beyond, the database may be quicker.
const CALL_TIMEOUT: Duration = Duration::from_millis(250);
/// Pause after a timeout or failure, during which Redis is not called.
const REST: Duration = Duration::from_millis(500);
/// Validity of a lease: shorter than Redis remembers the count of invalidations.
const LEASE_TTL: Duration = Duration::from_secs(30);
/// Interval at which pending invalidations are retried.
const RETRY_INTERVAL: Duration = Duration::from_millis(300);
/// Keys scanned per command, and keys invalidated concurrently.
const BATCH_MAX: usize = 1_000;
/// Message on the invalidation channel that clears all local caches.
const ALL: &str = "*";

/// The cache in Redis, with a local cache in front.
pub(super) struct RedisCache {
    link: Link,
    keys: Keys,
    near: Arc<LocalTier>,
    pending: PendingInvalidations,
    /// End of the pause after a failure, during which Redis is not called.
    rests: Mutex<Option<Instant>>,
}

/// The local cache of this process.
struct LocalTier(LocalCache);

impl Subscriber for LocalTier {
    fn received(&self, key: &str) {
        match key {
            ALL => self.0.clear(),
            key => self.0.forget(&CacheKey::written(key)),
        }
    }

    /// Clears the local cache. While disconnected, local copies are served until the usual TTL.
    fn missed(&self) {
        self.0.clear();
    }
}

/// A Redis entry: bytes, expiry in ms, and number of invalidations.
type Found = (Option<Vec<u8>>, Option<i64>, Option<u64>);

impl RedisCache {
    /// Creates a cache, subscribes to invalidations by other instances, and retries pending invalidations in
    /// the background.
    pub(super) fn start(link: &Link, keys: &Keys) -> Arc<Self> {
        let near = Arc::new(LocalTier(LocalCache::new(LOCAL_CACHE_BYTES, Some(LOCAL_TTL))));
        Listener::start(link, keys.forgotten(), &near);
        let (link, keys) = (link.clone(), keys.clone());
        let cache = Arc::new(Self {
            link,
            keys,
            near,
            pending: PendingInvalidations::default(),
            rests: Mutex::default(),
        });
        let again = Arc::downgrade(&cache);
        // Starts at the current count, so that invalidations right after the start are not repeated.
        let mut servers_met = cache.link.servers_met();
        cache.link.runtime().spawn(async move {
            loop {
                tokio::time::sleep(RETRY_INTERVAL).await;
                let Some(cache) = again.upgrade() else { return };
                let met = cache.link.servers_met();
                if std::mem::replace(&mut servers_met, met) != met {
                    cache.pending.doubt();
                }
                cache.send_again().await;
            }
        });
        cache
    }

    /// Reads an entry from Redis, within the time limit. Refuses keys with a pending invalidation.
    async fn ask(&self, op: &'static str, key: &CacheKey) -> Result<Found, StoreError> {
        if self.pending.has(key) {
            return Err(unavailable(op, "a pending invalidation has not reached Redis yet"));
        }
        let mut command = redis::cmd("HMGET");
        command.arg(self.keys.cached(key)).arg("bytes").arg("expires").arg("forgotten");
        let found: Found = self.soon(op, self.link.query(op, Idempotence::Safe, &command)).await?;
        // The key may have been invalidated during the read.
        if self.pending.has(key) { Err(unavailable(op, "the entry is being invalidated")) } else { Ok(found) }
    }

    async fn soon<T>(
        &self,
        op: &'static str,
        call: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        if self.rests.lock().is_some_and(|until| Instant::now() < until) {
            return Err(unavailable(op, "no response to the previous call"));
        }
        let answer = tokio::time::timeout(CALL_TIMEOUT, call).await;
        let answer = answer.unwrap_or_else(|_| Err(unavailable(op, "no response in time")));
        if matches!(answer, Err(StoreError::Unavailable { .. })) {
            *self.rests.lock() = Some(Instant::now() + REST);
        }
        answer
    }

    fn forgetting(&self, key: &CacheKey) -> Call {
        let call = FORGET.on([self.keys.cached(key)]).arg(millis(EXPIRY_GRACE));
        call.arg(self.keys.forgotten()).arg(key.as_str())
    }

    /// Invalidates keys in Redis and, through the channel, in all local caches.
    async fn send(&self, keys: Vec<(CacheKey, u64)>) -> Result<(), StoreError> {
        const OP: &str = "cache.forget";
        let mut sent = Ok(());
        for some in keys.chunks(BATCH_MAX) {
            let calls = some.iter().map(|(key, _)| self.forgetting(key));
            let answers = self.link.run_all::<u64>(OP, Idempotence::Safe, calls).await;
            for ((key, number), answer) in some.iter().zip(answers) {
                match answer {
                    Ok(_) => self.pending.sent(key, *number),
                    Err(error) => sent = Err(error),
                }
            }
            if sent.is_err() {
                break;
            }
        }
        sent
    }

    async fn send_again(&self) {
        let keys = self.pending.all();
        if !keys.is_empty()
            && let Err(error) = self.send(keys).await
        {
            tracing::debug!(%error, "could not send pending invalidations to Redis");
        }
    }
}

fn unavailable(op: &'static str, why: &'static str) -> StoreError {
    StoreError::Unavailable { op, source: why.into() }
}

/// Returns the entry's copy, if present and not expired.
fn live(found: Found, now: Timestamp) -> Option<CacheEntry> {
    let (Some(bytes), Some(expires)) = (found.0, found.1) else { return None };
    let expires_at = Timestamp::from_millis(expires);
    (now < expires_at).then(|| CacheEntry {
        bytes: bytes.into(),
        expires_at,
        is_near: false,
        decoded: Decoded::default(),
    })
}

#[async_trait]
impl Cache for RedisCache {
    async fn get(&self, key: &CacheKey, now: Timestamp) -> Result<Option<CacheEntry>, StoreError> {
        if let Some(kept) = self.near.0.get(key, now) {
            return Ok(Some(kept));
        }
        let count = self.near.0.count(key);
        let kept = live(self.ask("cache.get", key).await?, now);
        if let Some(kept) = &kept {
            self.near.0.put(key, count, &kept.bytes, kept.expires_at);
        }
        Ok(kept)
    }

    async fn look(&self, key: &CacheKey, now: Timestamp) -> Result<LeasedLookup, StoreError> {
        let near = self.near.0.count(key);
        let asked = Instant::now();
        match self.ask("cache.look", key).await {
            Ok(found) => {
                let lease = CacheLease { near, shared: Some((found.2.unwrap_or(0), asked)) };
                Ok(LeasedLookup { kept: live(found, now), lease })
            }
            Err(StoreError::Unavailable { .. }) => {
                Ok(LeasedLookup { kept: None, lease: CacheLease { near, shared: None } })
            }
            Err(error) => Err(error),
        }
    }

    async fn put(
        &self,
        key: &CacheKey,
        lease: CacheLease,
        bytes: Arc<[u8]>,
        expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        const OP: &str = "cache.put";
        if bytes.len() > CacheLease::MAX_BYTES {
            return Ok(false);
        }
        let Some((forgotten, asked)) = lease.shared else {
            return Ok(self.near.0.put(key, lease.near, &bytes, expires_at));
        };
        if asked.elapsed() >= LEASE_TTL || self.pending.has(key) {
            return Ok(false);
        }
        let call = KEEP.on([self.keys.cached(key)]).arg(forgotten).arg(&*bytes);
        let call = call.arg(expires_at.as_millis());
        let call = call.arg(millis(expires_at.since(now).saturating_add(EXPIRY_GRACE)));
        let is_kept = self.soon(OP, self.link.run::<bool>(OP, Idempotence::Safe, call)).await?;
        if is_kept {
            // The local cache may reject the lease for other reasons.
            self.near.0.put(key, lease.near, &bytes, expires_at);
        }
        Ok(is_kept)
    }

    async fn forget(&self, keys: &[CacheKey]) -> Result<(), StoreError> {
        // From here on, this process does not read the keys from Redis until Redis has the invalidations.
        let numbered = self.pending.add(keys);
        let sent = self.send(numbered).await;
        // Last, because stale entries may have been copied from Redis to the local cache until now.
        keys.iter().for_each(|key| self.near.0.forget(key));
        sent
    }

    async fn clear(&self) -> Result<(), StoreError> {
        const OP: &str = "cache.clear";
        let all = self.keys.all_cached();
        for master in self.link.masters(OP).await? {
            let mut cursor = "0".to_owned();
            loop {
                let mut scan = redis::cmd("SCAN");
                scan.arg(&cursor).arg("MATCH").arg(format!("{all}*")).arg("COUNT").arg(BATCH_MAX);
                let (next, found): (String, Vec<String>) = self.link.query_at(OP, &master, &scan).await?;
                let keys = found.iter().filter_map(|key| key.strip_prefix(&all)).map(CacheKey::written);
                self.forget(&keys.collect::<Vec<_>>()).await?;
                cursor = next;
                if cursor == "0" {
                    break;
                }
            }
        }
        let mut publish = redis::cmd("PUBLISH");
        publish.arg(self.keys.forgotten()).arg(ALL);
        let _: u64 = self.link.query(OP, Idempotence::Safe, &publish).await?;
        self.near.0.clear();
        Ok(())
    }
}
