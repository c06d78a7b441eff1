//! [`Sequences`] in memory, from blocks reserved in the database.
//!
//! A process allocates the numbers of a block locally, and reserves the next block when half of the last is
//! used up. While MySQL is unreachable, claims go on for as long as the numbers last. Numbers not allocated
//! by a process are skipped.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use mallbox_storage::{CLOSED_COUNTER, Sequences, StoreError};
use mysql_async::Conn;
use parking_lot::{Mutex, RwLock};
use tokio::time::{Instant, timeout};

use super::columns::{Columns, execute, first};
use super::database::{CALL_TIMEOUT, Database};
use super::errors::MysqlError;
use super::job::boxed;

/// Size of the first block; each further block is twice the last.
const FIRST_BLOCK: u64 = 4_096;
/// At 10,000 orders a second, enough for half a minute to a minute without MySQL; a day's 2^28 numbers make a
/// thousand such blocks.
const BLOCK_MAX: u64 = 1 << 19;
const OP: &str = "next number";

pub(super) struct MysqlSequences {
    database: Database,
    counters: RwLock<HashMap<(&'static str, u64), Arc<Counter>>>,
}

struct Counter {
    name: &'static str,
    day: u64,
    numbers: Mutex<Numbers>,
    /// Locked during a reservation.
    reserving: Arc<tokio::sync::Mutex<LastReservation>>,
}

/// The numbers available to this process.
struct Numbers {
    ranges: VecDeque<Range<u64>>,
    left: u64,
    /// With fewer numbers left, the next block is reserved.
    low: u64,
    /// Size of the next block.
    block: u64,
}

/// The last reservation's failure, if any: callers that waited for the reservation need not try again.
#[derive(Default)]
struct LastReservation {
    failed: Option<(Instant, String)>,
}

impl MysqlSequences {
    pub(super) fn new(database: Database) -> Self {
        Self { database, counters: RwLock::default() }
    }

    fn counter(&self, name: &'static str, day: u64) -> Arc<Counter> {
        if let Some(counter) = self.counters.read().get(&(name, day)) {
            return Arc::clone(counter);
        }
        let new = || Arc::new(Counter::new(name, day));
        Arc::clone(self.counters.write().entry((name, day)).or_insert_with(new))
    }
}

#[async_trait]
impl Sequences for MysqlSequences {
    async fn next(&self, name: &'static str, day: u64) -> Result<u64, StoreError> {
        let counter = self.counter(name, day);
        loop {
            if let Some((number, is_low)) = counter.numbers.lock().take() {
                if is_low {
                    counter.reserve_soon(&self.database);
                }
                return Ok(number);
            }
            counter.reserve_now(&self.database).await?;
        }
    }

    async fn high_water(&self, name: &'static str, day: u64) -> Result<Option<u64>, StoreError> {
        let sql = "SELECT reserved FROM sequences WHERE name = ? AND day = ?";
        let reserved = self
            .database
            .read("high water", |conn| {
                boxed(async move { first(conn, sql, (name, day), Columns::next::<u64>).await })
            })
            .await?;
        Ok(reserved.and_then(|reserved| reserved.checked_sub(1)))
    }

    async fn close(&self, name: &'static str, day: u64) -> Result<bool, StoreError> {
        self.database.write("close counter", |conn| boxed(async move { close(conn, name, day).await })).await
    }
}

impl Numbers {
    /// Returns the next number, and whether few are left.
    fn take(&mut self) -> Option<(u64, bool)> {
        let range = self.ranges.front_mut()?;
        let number = range.next()?;
        if range.is_empty() {
            self.ranges.pop_front();
        }
        self.left -= 1;
        Some((number, self.left < self.low))
    }

    fn add(&mut self, range: Range<u64>) {
        let size = range.end - range.start;
        self.left += size;
        self.low = size / 2;
        self.ranges.push_back(range);
        self.block = (self.block * 2).min(BLOCK_MAX);
    }
}

impl Counter {
    fn new(name: &'static str, day: u64) -> Self {
        let numbers = Numbers { ranges: VecDeque::new(), left: 0, low: 0, block: FIRST_BLOCK };
        Self { name, day, numbers: Mutex::new(numbers), reserving: Arc::default() }
    }

    /// Reserves the next block in the background, unless a reservation is in progress.
    fn reserve_soon(self: &Arc<Self>, database: &Database) {
        let Ok(mut last) = Arc::clone(&self.reserving).try_lock_owned() else { return };
        let (counter, its_database) = (Arc::clone(self), database.clone());
        database.spawn(async move {
            if let Err(error) = counter.reserve(&its_database, &mut last).await {
                tracing::warn!(%error, left = counter.numbers.lock().left, "could not reserve the next block of numbers");
            }
        });
    }

    /// Waits until numbers are available.
    async fn reserve_now(&self, database: &Database) -> Result<(), StoreError> {
        let begun = Instant::now();
        let Ok(mut last) = timeout(CALL_TIMEOUT, self.reserving.lock()).await else {
            return Err(MysqlError::Silence(CALL_TIMEOUT).into_store_error(OP));
        };
        if self.numbers.lock().left > 0 {
            return Ok(());
        }
        match &last.failed {
            Some((at, words)) if *at >= begun => {
                Err(StoreError::Unavailable { op: OP, source: words.clone().into() })
            }
            _ => self.reserve(database, &mut last).await,
        }
    }

    async fn reserve(&self, database: &Database, last: &mut LastReservation) -> Result<(), StoreError> {
        let block = self.numbers.lock().block;
        let reserved = database
            .write(OP, |conn| boxed(async move { reserve(conn, self.name, self.day, block).await }))
            .await;
        last.failed = reserved.as_ref().err().map(|error| (Instant::now(), error.to_string()));
        self.numbers.lock().add(reserved?);
        Ok(())
    }
}

/// Reserves a block. A block whose response is lost is skipped, since the database has reserved it.
async fn reserve(conn: &mut Conn, name: &str, day: u64, block: u64) -> Result<Range<u64>, MysqlError> {
    let sql = "INSERT INTO sequences (name, day, reserved) VALUES (?, ?, ?)
               ON DUPLICATE KEY UPDATE reserved = reserved + ?";
    execute(conn, sql, (name, day, block, block)).await?;
    // The transaction holds the row's lock until its end.
    let sql = "SELECT reserved FROM sequences WHERE name = ? AND day = ?";
    let end = first(conn, sql, (name, day), Columns::next::<u64>).await?.unwrap_or_default();
    let start = end.checked_sub(block).ok_or_else(|| MysqlError::Corrupt("sequences.reserved".into()))?;
    Ok(start..end)
}

/// Closes the counter unless its row exists.
async fn close(conn: &mut Conn, name: &str, day: u64) -> Result<bool, MysqlError> {
    let sql = "INSERT INTO sequences (name, day, reserved) VALUES (?, ?, ?)
               ON DUPLICATE KEY UPDATE reserved = reserved";
    execute(conn, sql, (name, day, CLOSED_COUNTER)).await?;
    // The transaction holds the row's lock until its end.
    let sql = "SELECT reserved FROM sequences WHERE name = ? AND day = ?";
    let reserved = first(conn, sql, (name, day), Columns::next::<u64>).await?;
    Ok(reserved.is_some_and(|reserved| reserved >= CLOSED_COUNTER))
}
