//! Logical expiry: entries never leave Redis and carry the time of their end. After it, one caller loads in
//! the background, and everybody else gets the old value at once.
//!
//! THE PRICE: what was not filled beforehand does not exist, and the old value is served for as long as the
//! load takes.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use mallbox_bench_ports::BenchError;

use super::entries::{Entries, TTL};
use super::shop_table::ShopTable;
use crate::caches::shop_cache::{SHOPS, ShopCache};
use crate::{HeldLoads, Stage};

struct LogicalExpiry {
    inner: Arc<Inner>,
}

struct Inner {
    table: ShopTable,
    entries: Entries,
    /// Times in entries count from here.
    begin: Instant,
}

pub(super) async fn open(stage: &Stage) -> Result<Arc<dyn ShopCache>, BenchError> {
    let servers = stage.servers()?;
    let (table, entries) = (ShopTable::create(servers).await?, Entries::create(servers).await?);
    let inner = Inner { table, entries, begin: Instant::now() };
    let cache = LogicalExpiry { inner: Arc::new(inner) };
    cache.warm(1..=SHOPS).await?;
    Ok(Arc::new(cache))
}

impl Inner {
    async fn load(&self, shop: u64) -> Result<(), BenchError> {
        let found = self.table.load(shop).await?;
        self.store(shop, found).await
    }

    /// Returns the time now, in ms.
    fn now_ms(&self) -> u128 {
        self.begin.elapsed().as_millis()
    }

    async fn store(&self, shop: u64, found: Option<u64>) -> Result<(), BenchError> {
        let Some(value) = found else { return Ok(()) };
        self.entries.set(shop, &text(value, self.now_ms() + TTL.as_millis()), None).await
    }
}

#[async_trait]
impl ShopCache for LogicalExpiry {
    fn loads(&self) -> &HeldLoads {
        &self.inner.table.loads
    }

    async fn read(&self, shop: u64) -> Result<Option<u64>, BenchError> {
        let Some(text) = self.inner.entries.get(shop).await? else { return Ok(None) };
        let (value, until) = parts(&text)?;
        if until <= self.inner.now_ms() && self.inner.entries.lock(shop).await? {
            let inner = Arc::clone(&self.inner);
            tokio::spawn(async move {
                // The next caller tries again.
                let _ = inner.load(shop).await;
                let _ = inner.entries.unlock(shop).await;
            });
        }
        Ok(Some(value))
    }

    async fn put_row(&self, shop: u64, value: u64) -> Result<(), BenchError> {
        self.inner.table.put(shop, value).await
    }

    async fn renew_entry(&self, shop: u64) -> Result<(), BenchError> {
        // A deleted entry would be a shop that does not exist.
        let found = self.inner.table.read(shop).await?;
        self.inner.store(shop, found).await
    }

    async fn expire(&self, shop: u64) -> Result<(), BenchError> {
        let Some(found) = self.inner.entries.get(shop).await? else { return Ok(()) };
        let (value, _) = parts(&found)?;
        self.inner.entries.set(shop, &text(value, self.inner.now_ms()), None).await
    }

    async fn remove_entry(&self, shop: u64) -> Result<(), BenchError> {
        self.expire(shop).await
    }

    async fn warm(&self, shops: RangeInclusive<u64>) -> Result<(), BenchError> {
        let until = self.inner.now_ms() + TTL.as_millis();
        let entries: Vec<_> = shops.map(|shop| (shop, text(1, until), None)).collect();
        self.inner.entries.set_all(&entries).await
    }

    async fn lifetimes(&self, shops: RangeInclusive<u64>) -> Result<Vec<Duration>, BenchError> {
        let now = self.inner.now_ms();
        let mut lifetimes = Vec::new();
        for shop in shops {
            let Some(text) = self.inner.entries.get(shop).await? else { continue };
            let (_, until) = parts(&text)?;
            lifetimes
                .push(Duration::from_millis(u64::try_from(until.saturating_sub(now)).unwrap_or(u64::MAX)));
        }
        Ok(lifetimes)
    }

    async fn leave_lock(&self, shop: u64) -> Result<bool, BenchError> {
        self.inner.entries.lock(shop).await
    }

    async fn is_locked(&self, shop: u64) -> Result<bool, BenchError> {
        self.inner.entries.is_locked(shop).await
    }

    async fn remove(self: Arc<Self>) -> Result<(), BenchError> {
        self.inner.entries.remove().await?;
        self.inner.table.remove().await
    }
}

/// Returns the text of an entry: value and end.
fn text(value: u64, until_ms: u128) -> String {
    format!("{value} {until_ms}")
}

fn parts(text: &str) -> Result<(u64, u128), BenchError> {
    let parts =
        text.split_once(' ').and_then(|(value, until)| Some((value.parse().ok()?, until.parse().ok()?)));
    parts.ok_or_else(|| BenchError::Wrong(format!("{text:?} is no entry")))
}
