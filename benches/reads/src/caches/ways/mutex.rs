//! Mutex: who misses takes the lock of the entry (SET NX) and loads; the others ask again every 50 ms. Absent
//! shops get an empty entry.
//!
//! THE PRICE: everybody waits while one loads, and for the whole lease if that one died.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mallbox_bench_ports::BenchError;

use super::aside::Aside;
use crate::caches::shop_cache::{ShopCache, WriteStep};
use crate::{HeldLoads, Stage};

/// Pause between two attempts.
const PAUSE: Duration = Duration::from_millis(50);

struct Mutex {
    aside: Arc<Aside>,
}

pub(super) async fn open(stage: &Stage) -> Result<Arc<dyn ShopCache>, BenchError> {
    Ok(Arc::new(Mutex { aside: Arc::new(Aside::null_value(stage).await?) }))
}

#[async_trait]
impl ShopCache for Mutex {
    fn loads(&self) -> &HeldLoads {
        self.aside.loads()
    }

    async fn read(&self, shop: u64) -> Result<Option<u64>, BenchError> {
        let entries = &self.aside.entries;
        loop {
            if let Some(text) = entries.get(shop).await? {
                return Ok(text.parse().ok());
            }
            if entries.lock(shop).await? {
                // Somebody may have loaded between the look and the lock.
                let found = match entries.get(shop).await? {
                    Some(text) => Ok(text.parse().ok()),
                    None => self.aside.load(shop).await,
                };
                entries.unlock(shop).await?;
                return found;
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    fn write_steps(&self) -> &'static [WriteStep] {
        self.aside.write_steps()
    }

    async fn put_row(&self, shop: u64, value: u64) -> Result<(), BenchError> {
        self.aside.put_row(shop, value).await
    }

    async fn renew_entry(&self, shop: u64) -> Result<(), BenchError> {
        self.aside.renew_entry(shop).await
    }

    async fn expire(&self, shop: u64) -> Result<(), BenchError> {
        self.aside.expire(shop).await
    }

    async fn remove_entry(&self, shop: u64) -> Result<(), BenchError> {
        self.aside.remove_entry(shop).await
    }

    async fn warm(&self, shops: RangeInclusive<u64>) -> Result<(), BenchError> {
        self.aside.warm(shops).await
    }

    async fn lifetimes(&self, shops: RangeInclusive<u64>) -> Result<Vec<Duration>, BenchError> {
        self.aside.lifetimes(shops).await
    }

    async fn leave_lock(&self, shop: u64) -> Result<bool, BenchError> {
        self.aside.entries.lock(shop).await
    }

    async fn is_locked(&self, shop: u64) -> Result<bool, BenchError> {
        self.aside.entries.is_locked(shop).await
    }

    async fn remove(self: Arc<Self>) -> Result<(), BenchError> {
        Arc::clone(&self.aside).remove().await
    }
}
