//! Strategies of a cache under a stampede, with the loads of the database counted.
//!
//! Half of the calls read one shop, a quarter other shops, and a quarter shops that do not exist. The entries
//! expire four times during the load.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use fastbloom::BloomFilter;
use mallbox_storage::{Cache, CacheKey, CacheLease, LockOwner, Locker, ShopId, Shops, Timestamp};

use crate::bench::{Bench, Row};
use crate::claims::NOON;
use crate::content::{insert_kind, shop};
use crate::error::{BenchError, ensure};
use crate::load::{Load, Timed, drive};
use crate::mall::{Keep, Mall};
use crate::part::Draft;
use crate::settings::{Settings, Side};

/// Ids of shops that do not exist, from this one on, and their number.
const ABSENT: u64 = 1_000_000;
const ABSENT_IDS: u64 = 500;
/// The entries expire this often during a load.
const EXPIRIES: u32 = 4;
const TTL: Duration = Duration::from_secs(60);
/// Time to live of entries that expire logically.
const KEPT: Duration = Duration::from_secs(24 * 3_600);
const LEASE: Duration = Duration::from_secs(10);

pub(crate) fn parts(settings: &Settings) -> Vec<Draft> {
    let sizes: &[u64] = settings.pick(&[200], &[1_000]);
    let draft = |side: Side, size: u64| {
        let loads = calls(settings) as f64 / if side == Side::Servers { 4_000.0 } else { 30_000.0 };
        let measurements = Strategy::ALL.len();
        let seconds = 3.0 + size as f64 / 300.0 + loads * measurements as f64;
        Draft { side: Some(side), size, measurements, seconds }
    };
    sizes.iter().flat_map(|size| settings.sides.iter().map(|side| draft(*side, *size))).collect()
}

/// Returns the number of calls of a load.
fn calls(settings: &Settings) -> u64 {
    settings.pick(8_000, 200_000)
}

/// What keeps calls off the database.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Strategy {
    NoCache,
    /// Cache-aside, with nothing against a stampede.
    None,
    NullValue,
    BloomFilter,
    Mutex,
    LogicalExpiry,
    TwoLevels,
}

impl Strategy {
    const ALL: [Self; 7] = [
        Self::NoCache,
        Self::None,
        Self::NullValue,
        Self::BloomFilter,
        Self::Mutex,
        Self::LogicalExpiry,
        Self::TwoLevels,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::NoCache => "no cache",
            Self::None => "none: cache-aside alone",
            Self::NullValue => "null value",
            Self::BloomFilter => "Bloom filter",
            Self::Mutex => "mutex and null value",
            Self::LogicalExpiry => "logical expiry",
            Self::TwoLevels => "two levels, mutex and null value",
        }
    }
}

pub(crate) async fn measure(bench: &mut Bench) -> Result<(), BenchError> {
    let mall = bench.own_mall(Keep::InMemory).await?;
    let kind = insert_kind(&mall.storage).await?;
    let mut filter = BloomFilter::with_false_pos(0.001).expected_items(100_000);
    for _ in 0..bench.part.size {
        filter.insert(&mall.storage.catalogue.shops.insert(&shop(kind), NOON).await?.get());
    }
    let filter = Arc::new(filter);
    for strategy in Strategy::ALL {
        mall.storage.base.cache.clear().await?;
        let reader = Arc::new(Reader::new(&mall, strategy, Arc::clone(&filter), bench.part.size));
        if strategy == Strategy::LogicalExpiry {
            reader.warm().await?;
        }
        let (timed, loads) = stampede(bench, &reader).await?;
        let levels = match (mall.side, strategy) {
            (Side::Directory, Strategy::TwoLevels) => "; in a directory both levels are this process",
            _ => "",
        };
        bench.publish(Row {
            operation: strategy.name(),
            back_end: mall.side.back_end(),
            callers: Some(bench.settings.threads),
            timed: Some(&timed),
            memory: mall.memory().await?,
            note: format!("{loads} loads of the database for {} calls{levels}", timed.done),
            ..Row::default()
        });
    }
    drop(filter);
    mall.close().await
}

/// Reads shops from all callers while the entries expire. Returns also the loads of the database.
async fn stampede(bench: &Bench, reader: &Arc<Reader>) -> Result<(Timed, u64), BenchError> {
    let (calls, shops) = (calls(&bench.settings), bench.part.size);
    let step = TTL * EXPIRIES / u32::try_from(calls).unwrap_or(u32::MAX);
    let reading = Arc::clone(reader);
    let timed = drive(Load::count(bench.settings.threads, calls, Duration::MAX), move |number| {
        let reader = Arc::clone(&reading);
        let now = NOON + step * u32::try_from(number).unwrap_or(u32::MAX);
        async move {
            let id = match number % 4 {
                0 | 1 => 1,
                2 => 1 + number.wrapping_mul(7_919) % shops,
                _ => ABSENT + number.wrapping_mul(7_919) % ABSENT_IDS,
            };
            let found = reader.read(id, now).await?;
            ensure(found == (id < ABSENT), || format!("shop {id} was found: {found}"))
        }
    })
    .await?;
    Ok((timed, reader.loads.load(Ordering::Relaxed)))
}

/// Reads shops by a strategy.
struct Reader {
    strategy: Strategy,
    cache: Arc<dyn Cache>,
    shops: Arc<dyn Shops>,
    locker: Locker,
    filter: Arc<BloomFilter>,
    /// Shops 1 to this one exist.
    count: u64,
    /// Loads of the database.
    loads: AtomicU64,
}

impl Reader {
    fn new(mall: &Mall, strategy: Strategy, filter: Arc<BloomFilter>, count: u64) -> Self {
        Self {
            strategy,
            cache: Arc::clone(&mall.storage.base.cache),
            shops: Arc::clone(&mall.storage.catalogue.shops),
            locker: Locker::new(Arc::clone(&mall.storage.base.locks)),
            filter,
            count,
            loads: AtomicU64::new(0),
        }
    }

    /// Returns whether a shop exists, from the cache or the database.
    async fn read(self: &Arc<Self>, id: u64, now: Timestamp) -> Result<bool, BenchError> {
        match self.strategy {
            Strategy::NoCache => self.load(id).await,
            Strategy::None => self.aside(id, now, false).await,
            Strategy::NullValue => self.aside(id, now, true).await,
            Strategy::BloomFilter => Ok(self.filter.contains(&id) && self.aside(id, now, false).await?),
            Strategy::Mutex => self.alone(id, now).await,
            Strategy::LogicalExpiry => self.logical(id, now).await,
            Strategy::TwoLevels => match self.cache.get(&key(id), now).await? {
                Some(entry) => Ok(!entry.bytes.is_empty()),
                None => self.alone(id, now).await,
            },
        }
    }

    /// Loads from the database.
    async fn load(&self, id: u64) -> Result<bool, BenchError> {
        self.loads.fetch_add(1, Ordering::Relaxed);
        Ok(self.shops.get(ShopId::new(id)).await?.is_some())
    }

    async fn aside(&self, id: u64, now: Timestamp, with_nulls: bool) -> Result<bool, BenchError> {
        let looked = self.cache.look(&key(id), now).await?;
        if let Some(entry) = looked.kept {
            return Ok(!entry.bytes.is_empty());
        }
        let exists = self.load(id).await?;
        if exists || with_nulls {
            self.store(id, exists, looked.lease, now).await?;
        }
        Ok(exists)
    }

    /// Loads under the lock of the key, unless another caller did while this one waited.
    async fn alone(&self, id: u64, now: Timestamp) -> Result<bool, BenchError> {
        if let Some(entry) = self.cache.look(&key(id), now).await?.kept {
            return Ok(!entry.bytes.is_empty());
        }
        let held = self.locker.hold(&format!("shop-{id}"), LockOwner::random(), LEASE, LEASE).await?;
        let found = self.aside(id, now, true).await;
        if let Some(held) = held {
            held.leave().await?;
        }
        found
    }

    /// Returns the entry even if it has expired; one caller reloads it meanwhile. What was not warmed does
    /// not exist.
    async fn logical(self: &Arc<Self>, id: u64, now: Timestamp) -> Result<bool, BenchError> {
        let Some(entry) = self.cache.look(&key(id), now).await?.kept else { return Ok(false) };
        let until = entry.bytes.first_chunk().map_or(0, |bytes| i64::from_le_bytes(*bytes));
        if until <= now.as_millis() {
            let name = format!("shop-{id}");
            if let Some(held) = self.locker.hold(&name, LockOwner::random(), LEASE, Duration::ZERO).await? {
                let reader = Arc::clone(self);
                tokio::spawn(async move {
                    let _ = reader.reload(id, now).await;
                    let _ = held.leave().await;
                });
            }
        }
        Ok(true)
    }

    async fn reload(&self, id: u64, now: Timestamp) -> Result<(), BenchError> {
        let looked = self.cache.look(&key(id), now).await?;
        if !self.load(id).await? {
            return Ok(());
        }
        let bytes: Arc<[u8]> = (now + TTL).as_millis().to_le_bytes().into();
        self.cache.put(&key(id), looked.lease, bytes, now + KEPT, now).await?;
        Ok(())
    }

    /// Fills the cache for logical expiry. These loads do not count.
    async fn warm(&self) -> Result<(), BenchError> {
        for id in 1..=self.count {
            self.reload(id, NOON).await?;
        }
        self.loads.store(0, Ordering::Relaxed);
        Ok(())
    }

    async fn store(
        &self,
        id: u64,
        exists: bool,
        lease: CacheLease,
        now: Timestamp,
    ) -> Result<(), BenchError> {
        let bytes: Arc<[u8]> = if exists { [1; 200].as_slice().into() } else { [].into() };
        self.cache.put(&key(id), lease, bytes, now + TTL, now).await?;
        Ok(())
    }
}

fn key(id: u64) -> CacheKey {
    CacheKey::new("bench", id)
}
