//! Cache of rows and query results of the database.

mod decoded;
mod memory;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

pub use decoded::Decoded;
pub use memory::LocalCache;

use crate::{StoreError, Timestamp};

/// Cache key: kind of the value and id. Cheap to clone.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct CacheKey(Arc<str>);

impl CacheKey {
    /// Builds a key. `kind` consists of letters and `-`.
    #[must_use]
    pub fn new(kind: &str, id: u64) -> Self {
        Self(format!("{kind}:{id}").into())
    }

    /// Restores a key written by another process.
    pub fn written(text: &str) -> Self {
        Self(text.into())
    }

    /// Returns the key as back ends store it: `kind:id`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CacheKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A cached entry, as returned.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CacheEntry {
    /// The cached value; an opaque byte string.
    pub bytes: Arc<[u8]>,
    /// First instant at which the entry is expired.
    pub expires_at: Timestamp,
    /// Whether the entry came from the local (in-process) cache.
    pub is_near: bool,
    /// The value as its reader decoded it, shared by all readers of a local copy.
    pub decoded: Decoded,
}

/// Cache lease: permits storing a value read after the lease was issued. Invalidation of the key revokes the
/// lease.
#[derive(Clone, Copy, Debug)]
pub struct CacheLease {
    /// Invalidation count of the key in this process; keys with equal hashes share a count.
    pub near: u64,
    /// Invalidation count of the key across all processes, and the time of reading the count. `None` while
    /// the shared cache is unreachable.
    pub shared: Option<(u64, tokio::time::Instant)>,
}

/// Result of a lookup with a lease.
#[derive(Clone, Debug)]
pub struct LeasedLookup {
    /// The cached entry, if any.
    pub kept: Option<CacheEntry>,
    /// Lease for storing a new value.
    pub lease: CacheLease,
}

/// Cache with a TTL: byte strings by key. Every entry is a copy of other data and may vanish at any moment.
///
/// - **TTL.** An entry is live while `now < expires_at`. The caller passes `now`; freeing memory by another
///   clock has no visible effect.
/// - **No stale fills (leases, as in memcache).** A reader takes a lease by [`look`](Cache::look), reads the
///   database, and puts. A writer changes the database, then calls [`forget`](Cache::forget), which revokes
///   every lease of the key. A value read before the change is therefore refused, however long the reader
///   took. A lease may also be revoked for other reasons.
/// - **Two tiers.** Several processes may share the cache, and each may keep local copies unknown to the
///   others. [`forget`](Cache::forget) takes effect in the calling process at once and elsewhere as soon as
///   the invalidation message arrives; if the message is lost, within 3 s of real time.
/// - **Outage of the shared tier.** Local copies keep being served for up to 3 s, and no call blocks: a call
///   without a response gives up after a quarter of a second, and the following calls give up at once.
/// - **Bounded.** Entries larger than [`MAX_BYTES`](CacheLease::MAX_BYTES) are not stored. Memory is
///   bounded, and frequently read entries stay.
#[async_trait]
pub trait Cache: Send + Sync {
    /// Returns the live entry under a key, from the nearest tier.
    ///
    /// # Errors
    /// Any [`StoreError`]: read from the database.
    async fn get(&self, key: &CacheKey, now: Timestamp) -> Result<Option<CacheEntry>, StoreError>;

    /// Returns the live entry of the shared tier, bypassing local copies, together with a lease. While the
    /// shared tier is unreachable, returns no entry, and a lease for the local tier only.
    ///
    /// # Errors
    /// Any [`StoreError`]: read from the database and store nothing.
    async fn look(&self, key: &CacheKey, now: Timestamp) -> Result<LeasedLookup, StoreError>;

    /// Stores an entry, replacing the former one. Returns whether the entry was stored: `false` if the lease
    /// was revoked.
    ///
    /// # Errors
    /// Any [`StoreError`]: the entry may have been stored.
    async fn put(
        &self,
        key: &CacheKey,
        lease: CacheLease,
        bytes: Arc<[u8]>,
        expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Invalidates keys after a change of the underlying data. An empty slice changes nothing.
    ///
    /// # Errors
    /// Any [`StoreError`]: other processes may still serve the old entries. This process does not, and keeps
    /// retrying the invalidation until the others have received it.
    async fn forget(&self, keys: &[CacheKey]) -> Result<(), StoreError>;

    /// Removes all entries. Leases of keys without an entry may survive, so call only while nobody else uses
    /// the mall.
    ///
    /// # Errors
    /// Any [`StoreError`]: some entries may remain; call again.
    async fn clear(&self) -> Result<(), StoreError>;
}

impl CacheLease {
    /// Maximum size of an entry, in bytes.
    pub const MAX_BYTES: usize = 256 << 10;
}
