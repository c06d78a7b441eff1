//! Cache-aside: read the entry; if it is missing, load the row and store it. A write changes the row and
//! deletes the entry. The variants differ in one choice each.
//!
//! THE GAP: whoever loaded the old row may store it after the write has deleted the entry. Nothing deletes it
//! again before it expires.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use fastbloom::BloomFilter;
use mallbox_bench_ports::BenchError;

use super::entries::{Entries, TTL};
use super::mutex::load_alone;
use super::shop_table::ShopTable;
use crate::caches::shop_cache::{SHOPS, ShopCache, WriteStep};
use crate::{HeldLoads, Stage};

/// Time to live of the entry of a shop that does not exist.
const ABSENT_TTL: Duration = Duration::from_secs(2 * 60);
/// False positives of the Bloom filter.
const FALSE_POSITIVES: f64 = 0.001;

/// What keeps reads of absent shops off the database.
enum Absent {
    Nothing,
    /// An empty entry.
    NullValue,
    /// A Bloom filter of all shops.
    Bloom(Box<BloomFilter>),
}

/// Cache-aside.
pub(super) struct Aside {
    table: ShopTable,
    entries: Entries,
    absent: Absent,
    /// Whether times to live differ by up to a tenth.
    has_jitter: bool,
    /// Whether one caller at a time loads an entry.
    has_mutex: bool,
    write_steps: &'static [WriteStep],
}

impl Aside {
    pub(super) async fn plain(stage: &Stage) -> Result<Self, BenchError> {
        Ok(Self {
            table: ShopTable::create(stage.servers()?).await?,
            entries: Entries::create(stage.servers()?).await?,
            absent: Absent::Nothing,
            has_jitter: false,
            has_mutex: false,
            write_steps: WriteStep::ROW_FIRST,
        })
    }

    /// Deletes the entry before the row changes.
    pub(super) async fn delete_first(stage: &Stage) -> Result<Self, BenchError> {
        Ok(Self { write_steps: &[WriteStep::Entry, WriteStep::Row], ..Self::plain(stage).await? })
    }

    /// Deletes the entry before the row changes, and once more half a second later.
    pub(super) async fn double_delete(stage: &Stage) -> Result<Self, BenchError> {
        let write_steps = &[WriteStep::Entry, WriteStep::Row, WriteStep::Pause, WriteStep::Entry];
        Ok(Self { write_steps, ..Self::plain(stage).await? })
    }

    pub(super) async fn null_value(stage: &Stage) -> Result<Self, BenchError> {
        Ok(Self { absent: Absent::NullValue, ..Self::plain(stage).await? })
    }

    pub(super) async fn bloom(stage: &Stage) -> Result<Self, BenchError> {
        let shops: Vec<u64> = (1..=SHOPS).collect();
        let filter = BloomFilter::with_false_pos(FALSE_POSITIVES).seed(&0).items(shops.iter());
        Ok(Self { absent: Absent::Bloom(Box::new(filter)), ..Self::plain(stage).await? })
    }

    pub(super) async fn jitter(stage: &Stage) -> Result<Self, BenchError> {
        Ok(Self { has_jitter: true, ..Self::plain(stage).await? })
    }

    /// Lets one caller at a time load an entry, also those of absent shops.
    pub(super) async fn mutex(stage: &Stage) -> Result<Self, BenchError> {
        Ok(Self { has_mutex: true, ..Self::null_value(stage).await? })
    }

    /// Loads the row, and stores what was found.
    async fn load(&self, shop: u64) -> Result<Option<u64>, BenchError> {
        let found = self.table.load(shop).await?;
        match found {
            Some(value) => self.entries.set(shop, &value.to_string(), Some(self.ttl())).await?,
            None if matches!(self.absent, Absent::NullValue) => {
                self.entries.set(shop, "", Some(ABSENT_TTL)).await?;
            }
            None => {}
        }
        Ok(found)
    }

    fn ttl(&self) -> Duration {
        let shorter = if self.has_jitter { rand::random_range(0.0..0.1) } else { 0.0 };
        TTL.mul_f64(1.0 - shorter)
    }
}

#[async_trait]
impl ShopCache for Aside {
    fn loads(&self) -> &HeldLoads {
        &self.table.loads
    }

    async fn read(&self, shop: u64) -> Result<Option<u64>, BenchError> {
        if let Absent::Bloom(filter) = &self.absent
            && !filter.contains(&shop)
        {
            return Ok(None);
        }
        match self.entries.get(shop).await? {
            Some(text) => Ok(text.parse().ok()),
            None if self.has_mutex => load_alone(&self.entries, shop, self.load(shop)).await,
            None => self.load(shop).await,
        }
    }

    fn write_steps(&self) -> &'static [WriteStep] {
        self.write_steps
    }

    async fn put_row(&self, shop: u64, value: u64) -> Result<(), BenchError> {
        self.table.put(shop, value).await
    }

    async fn renew_entry(&self, shop: u64) -> Result<(), BenchError> {
        self.entries.delete(shop).await
    }

    async fn expire(&self, shop: u64) -> Result<(), BenchError> {
        self.entries.expire(shop).await
    }

    async fn remove_entry(&self, shop: u64) -> Result<(), BenchError> {
        self.entries.delete(shop).await
    }

    async fn warm(&self, shops: RangeInclusive<u64>) -> Result<(), BenchError> {
        let entries: Vec<_> = shops.map(|shop| (shop, "1".to_owned(), Some(self.ttl()))).collect();
        self.entries.set_all(&entries).await
    }

    async fn lifetimes(&self, shops: RangeInclusive<u64>) -> Result<Vec<Duration>, BenchError> {
        self.entries.lifetimes(shops).await
    }

    async fn leave_lock(&self, shop: u64) -> Result<bool, BenchError> {
        Ok(self.has_mutex && self.entries.lock(shop).await?)
    }

    async fn is_locked(&self, shop: u64) -> Result<bool, BenchError> {
        self.entries.is_locked(shop).await
    }

    async fn remove(self: Arc<Self>) -> Result<(), BenchError> {
        self.entries.remove().await?;
        self.table.remove().await
    }
}
