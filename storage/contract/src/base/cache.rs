//! `Cache`: live entries are found, and stale values never return.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use mallbox_storage::{Cache, CacheKey, CacheLease, Storage, Timestamp};

use crate::world::{NOON, World};

crate::cases! {
    what_is_put_is_found_until_the_instant_it_expires,
    what_was_read_before_a_change_is_not_kept,
    a_change_ends_no_lease_that_is_taken_after_it,
    kinds_and_ids_do_not_share,
    of_two_who_read_after_the_last_change_each_may_keep,
    what_is_too_large_is_not_kept,
    everything_is_forgotten_at_once,
    a_read_after_a_change_never_returns_an_older_value,
}

const TTL: Duration = Duration::from_secs(30);
const MS: Duration = Duration::from_millis(1);

/// Returns the key of a shop.
pub fn shop(id: u64) -> CacheKey {
    CacheKey::new("shop", id)
}

/// Acquires a ticket for `key` and stores `text` with the ticket.
pub async fn keep(storage: &Storage, key: &CacheKey, text: &str) {
    let lookup = storage.base.cache.look(key, NOON).await.unwrap();
    assert!(put(&*storage.base.cache, key, lookup.lease, text).await);
}

async fn put(cache: &dyn Cache, key: &CacheKey, lease: CacheLease, text: &str) -> bool {
    cache.put(key, lease, text.as_bytes().into(), NOON + TTL, NOON).await.unwrap()
}

/// Returns the live value, after checking that local and shared reads agree.
pub async fn found(storage: &Storage, key: &CacheKey, now: Timestamp) -> Option<String> {
    let near = storage.base.cache.get(key, now).await.unwrap();
    let shared = storage.base.cache.look(key, now).await.unwrap().kept;
    assert_eq!(near.as_ref().map(|kept| &kept.bytes), shared.as_ref().map(|kept| &kept.bytes));
    assert!(near.iter().chain(&shared).all(|kept| kept.expires_at == NOON + TTL));
    near.map(|kept| String::from_utf8(kept.bytes.to_vec()).unwrap())
}

async fn what_is_put_is_found_until_the_instant_it_expires(w: &World) {
    assert_eq!(found(&w.storage, &shop(1), NOON).await, None);
    keep(&w.storage, &shop(1), "tea").await;
    for now in [NOON, NOON - TTL, NOON + TTL - MS] {
        assert_eq!(found(&w.storage, &shop(1), now).await.as_deref(), Some("tea"), "{now:?}");
    }
    for now in [NOON + TTL, NOON + 2 * TTL] {
        assert_eq!(found(&w.storage, &shop(1), now).await, None, "{now:?}");
    }
    let late = w.storage.base.cache.look(&shop(1), NOON + TTL).await.unwrap();
    let until = NOON + 3 * TTL;
    assert!(
        w.storage.base.cache.put(&shop(1), late.lease, (*b"rice").into(), until, NOON + TTL).await.unwrap()
    );
    let again = w.storage.base.cache.get(&shop(1), NOON + 2 * TTL).await.unwrap().unwrap();
    assert_eq!((&*again.bytes, again.expires_at), (&b"rice"[..], until));
}

/// The race of every cache-aside: the reader is held between reading and keeping.
async fn what_was_read_before_a_change_is_not_kept(w: &World) {
    let cache = &w.storage.base.cache;
    let of_a_miss = cache.look(&shop(1), NOON).await.unwrap();
    assert_eq!(of_a_miss.kept, None);
    cache.forget(&[shop(1)]).await.unwrap();
    assert!(!put(&**cache, &shop(1), of_a_miss.lease, "old").await);
    assert_eq!(found(&w.storage, &shop(1), NOON).await, None);
    // Likewise for a caller that rebuilds an existing entry.
    keep(&w.storage, &shop(1), "tea").await;
    let of_a_hit = cache.look(&shop(1), NOON).await.unwrap();
    cache.forget(&[shop(2), shop(1)]).await.unwrap();
    assert_eq!(found(&w.storage, &shop(1), NOON).await, None);
    assert!(!put(&**cache, &shop(1), of_a_hit.lease, "old").await);
    keep(&w.storage, &shop(1), "new").await;
    assert!(!put(&**cache, &shop(1), of_a_hit.lease, "old").await, "nor over what is newer");
    assert_eq!(found(&w.storage, &shop(1), NOON).await.as_deref(), Some("new"));
}

async fn a_change_ends_no_lease_that_is_taken_after_it(w: &World) {
    for round in 0..3 {
        w.storage.base.cache.forget(&[shop(1)]).await.unwrap();
        keep(&w.storage, &shop(1), &round.to_string()).await;
        assert_eq!(found(&w.storage, &shop(1), NOON).await, Some(round.to_string()));
    }
    w.storage.base.cache.forget(&[]).await.unwrap();
    assert!(found(&w.storage, &shop(1), NOON).await.is_some());
}

async fn kinds_and_ids_do_not_share(w: &World) {
    let keys = [shop(1), shop(11), CacheKey::new("voucher", 1), CacheKey::new("shop-vouchers", u64::MAX)];
    for (number, key) in keys.iter().enumerate() {
        keep(&w.storage, key, &number.to_string()).await;
    }
    w.storage.base.cache.forget(&keys[1..2]).await.unwrap();
    for (number, key) in keys.iter().enumerate() {
        let expected = (number != 1).then(|| number.to_string());
        assert_eq!(found(&w.storage, key, NOON).await, expected, "{key}");
    }
}

async fn of_two_who_read_after_the_last_change_each_may_keep(w: &World) {
    let cache = &w.storage.base.cache;
    let one = cache.look(&shop(1), NOON).await.unwrap();
    let other = cache.look(&shop(1), NOON).await.unwrap();
    assert!(put(&**cache, &shop(1), one.lease, "one").await);
    assert!(put(&**cache, &shop(1), other.lease, "other").await);
    assert_eq!(found(&w.storage, &shop(1), NOON).await.as_deref(), Some("other"));
}

async fn what_is_too_large_is_not_kept(w: &World) {
    let cache = &w.storage.base.cache;
    for (length, is_kept) in [(CacheLease::MAX_BYTES, true), (CacheLease::MAX_BYTES + 1, false)] {
        let key = shop(length as u64);
        let lease = cache.look(&key, NOON).await.unwrap().lease;
        let bytes: Arc<[u8]> = vec![7; length].into();
        assert_eq!(cache.put(&key, lease, bytes, NOON + TTL, NOON).await.unwrap(), is_kept);
        assert_eq!(cache.get(&key, NOON).await.unwrap().is_some(), is_kept);
    }
}

async fn everything_is_forgotten_at_once(w: &World) {
    for id in 0..50 {
        keep(&w.storage, &shop(id), "tea").await;
    }
    w.storage.base.cache.clear().await.unwrap();
    for id in 0..50 {
        assert_eq!(found(&w.storage, &shop(id), NOON).await, None);
    }
    keep(&w.storage, &shop(1), "new").await;
    assert_eq!(found(&w.storage, &shop(1), NOON).await.as_deref(), Some("new"));
}

/// A versioned value in a database; readers cache the value they read, writers invalidate after each write.
#[derive(Default)]
struct Versions {
    written: AtomicU64,
    /// The last version invalidated everywhere before any read.
    forgotten: AtomicU64,
}

async fn a_read_after_a_change_never_returns_an_older_value(w: &World) {
    let versions = Arc::new(Versions::default());
    let mut tasks = tokio::task::JoinSet::new();
    for task in 0..8_u64 {
        let (storage, versions) = (w.storage.clone(), Arc::clone(&versions));
        tasks.spawn(async move {
            let mut hits = 0;
            for round in 0..150 {
                if task < 2 && round % 4 == 0 {
                    let written = versions.written.fetch_add(1, SeqCst) + 1;
                    storage.base.cache.forget(&[shop(1)]).await.unwrap();
                    versions.forgotten.fetch_max(written, SeqCst);
                }
                let at_least = versions.forgotten.load(SeqCst);
                let (version, was_kept) = version(&storage, &versions.written, round % 3).await;
                assert!(version >= at_least, "version {version} after {at_least}");
                hits += u64::from(was_kept);
            }
            hits
        });
    }
    let hits: u64 = tasks.join_all().await.into_iter().sum();
    assert!(hits > 100, "only {hits} were found");
}

/// Returns the version a reader gets, and whether the version came from the cache.
async fn version(storage: &Storage, record: &AtomicU64, pause_ms: u64) -> (u64, bool) {
    if let Ok(Some(kept)) = storage.base.cache.get(&shop(1), NOON).await {
        return (u64::from_le_bytes((&*kept.bytes).try_into().unwrap()), true);
    }
    let lease = storage.base.cache.look(&shop(1), NOON).await.unwrap().lease;
    let version = record.load(SeqCst);
    tokio::time::sleep(Duration::from_millis(pause_ms)).await;
    let bytes: Arc<[u8]> = version.to_le_bytes().into();
    // A briefly slow store is no reason to fail.
    let _ = storage.base.cache.put(&shop(1), lease, bytes, NOON + TTL, NOON).await;
    (version, false)
}
