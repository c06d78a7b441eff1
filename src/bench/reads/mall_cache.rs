//! The cache of mallbox in front of the shops of a mall.

use std::hash::{Hash, Hasher};
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use mallbox_bench_ports::{BenchError, Mall, NOON, insert_kind, shop};
use mallbox_bench_reads::HeldLoads;
use mallbox_bench_reads::caches::{MallCaches, SHOPS, ShopCache};
use mallbox_storage::{
    CacheKey, LockEntry, LockOutcome, LockOwner, ShopId, ShopText, ShopTypeId, Storage, StoreError, Timestamp,
};
use serde::{Deserialize, Serialize};

use crate::mall::Failure;
use crate::mall::base::cache_aside::{CacheAside, CacheId, Cached, Policy};

/// Fresh period of an entry, as long as the time to live of the tutorials.
const FRESH: Duration = Duration::from_secs(30 * 60);
/// Experiments hold loads for longer than a caller of a mall waits, who would be shed.
const PATIENCE: Duration = Duration::from_secs(20);
/// Lease of a dead instance's lock.
const LEASE: Duration = Duration::from_secs(2);
/// Attempts to take that lock, within the time of a lease.
const ATTEMPTS: u32 = 20;

/// Opens the caches.
pub(super) struct Malls;

#[async_trait]
impl MallCaches for Malls {
    async fn open(&self, mall: Mall) -> Result<Arc<dyn ShopCache>, BenchError> {
        let kind = insert_kind(&mall.storage).await?;
        for _ in 1..=SHOPS {
            mall.storage.catalogue.shops.insert(&text(kind, 1), NOON).await?;
        }
        let policy = Policy { fresh: FRESH, patience: PATIENCE, slow: PATIENCE, ..Policy::default() };
        let cache = CacheAside::new(&mall.storage, policy);
        // One per opened mall: ids are copied, and refer to the counter.
        let loads: &'static HeldLoads = Box::leak(Box::default());
        Ok(Arc::new(MallCache { mall, kind, cache, policy, loads, passed_s: AtomicU64::new(0) }))
    }
}

struct MallCache {
    mall: Mall,
    kind: ShopTypeId,
    cache: CacheAside<BenchShop>,
    policy: Policy,
    loads: &'static HeldLoads,
    /// Time that has passed since noon on the mall's clock.
    passed_s: AtomicU64,
}

/// A cached shop.
#[derive(Clone, Serialize, Deserialize)]
struct BenchShop {
    value: u64,
}

/// Id of a shop, and where its reads are counted and held.
#[derive(Clone, Copy)]
struct BenchShopId {
    shop: u64,
    loads: &'static HeldLoads,
}

impl PartialEq for BenchShopId {
    fn eq(&self, other: &Self) -> bool {
        self.shop == other.shop
    }
}

impl Eq for BenchShopId {}

impl Hash for BenchShopId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.shop.hash(state);
    }
}

impl CacheId for BenchShopId {
    fn number(self) -> u64 {
        self.shop
    }
}

#[async_trait]
impl Cached for BenchShop {
    const KIND: &'static str = "bench-shop";
    type Id = BenchShopId;

    async fn load(storage: &Storage, id: BenchShopId, _: Timestamp) -> Result<Option<Self>, StoreError> {
        let found = id.loads.pass(storage.catalogue.shops.get(ShopId::new(id.shop))).await?;
        Ok(found.and_then(|shop| shop.text.avg_price).map(|price| Self { value: price.unsigned_abs() }))
    }
}

/// Returns a shop with a value.
fn text(kind: ShopTypeId, value: u64) -> ShopText {
    ShopText { avg_price: Some(value.cast_signed()), ..shop(kind) }
}

fn key(shop: u64) -> CacheKey {
    CacheKey::new(BenchShop::KIND, shop)
}

/// Returns the name of the lock of a loader.
fn lock_name(shop: u64) -> String {
    format!("cache:{}", key(shop))
}

fn failed(failure: &Failure) -> BenchError {
    BenchError::Wrong(format!("the cache failed: {failure:?}"))
}

impl MallCache {
    fn now(&self) -> Timestamp {
        NOON + Duration::from_secs(self.passed_s.load(Ordering::SeqCst))
    }

    fn id(&self, shop: u64) -> BenchShopId {
        BenchShopId { shop, loads: self.loads }
    }
}

#[async_trait]
impl ShopCache for MallCache {
    fn loads(&self) -> &HeldLoads {
        self.loads
    }

    async fn read(&self, shop: u64) -> Result<Option<u64>, BenchError> {
        let found = self.cache.get(self.id(shop), self.now()).await.map_err(|failure| failed(&failure))?;
        Ok(found.map(|shop| shop.value))
    }

    async fn put_row(&self, shop: u64, value: u64) -> Result<(), BenchError> {
        self.mall
            .storage
            .catalogue
            .shops
            .update(ShopId::new(shop), &text(self.kind, value), self.now())
            .await?;
        Ok(())
    }

    async fn renew_entry(&self, shop: u64) -> Result<(), BenchError> {
        self.cache.changed(&[self.id(shop)]).await;
        Ok(())
    }

    async fn expire(&self, _: u64) -> Result<(), BenchError> {
        self.passed_s.fetch_add(FRESH.as_secs(), Ordering::SeqCst);
        Ok(())
    }

    async fn remove_entry(&self, shop: u64) -> Result<(), BenchError> {
        self.renew_entry(shop).await
    }

    async fn warm(&self, shops: RangeInclusive<u64>) -> Result<(), BenchError> {
        for shop in shops {
            self.read(shop).await?;
        }
        Ok(())
    }

    async fn lifetimes(&self, shops: RangeInclusive<u64>) -> Result<Vec<Duration>, BenchError> {
        let mut lifetimes = Vec::new();
        for shop in shops {
            if let Some(entry) = self.mall.storage.base.cache.get(&key(shop), self.now()).await? {
                let until = entry.expires_at.since(self.now());
                lifetimes.push(until.saturating_sub(self.policy.stale));
            }
        }
        Ok(lifetimes)
    }

    async fn leave_lock(&self, shop: u64) -> Result<bool, BenchError> {
        let locks = &self.mall.storage.base.locks;
        if !locks.are_shared() {
            return Ok(false);
        }
        // Who loaded before frees the lock in the background.
        for _ in 0..ATTEMPTS {
            let entry = LockEntry { owner: LockOwner::random(), number: 0 };
            if let LockOutcome::Held(_) = locks.enter(&lock_name(shop), entry, LEASE).await? {
                return Ok(true);
            }
            tokio::time::sleep(LEASE / ATTEMPTS).await;
        }
        Err(BenchError::Wrong(format!("the lock of shop {shop} is never free")))
    }

    async fn is_locked(&self, shop: u64) -> Result<bool, BenchError> {
        let entry = LockEntry { owner: LockOwner::random(), number: 0 };
        let outcome = self.mall.storage.base.locks.enter(&lock_name(shop), entry, LEASE).await?;
        Ok(matches!(outcome, LockOutcome::Busy { .. }))
    }

    async fn remove(self: Arc<Self>) -> Result<(), BenchError> {
        let Some(Self { mall, cache, .. }) = Arc::into_inner(self) else {
            return Err(BenchError::Wrong("the cache is still in use".to_owned()));
        };
        drop(cache);
        mall.close().await
    }
}
