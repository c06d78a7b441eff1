//! [`Sequences`] in memory, out of blocks that are reserved in the record.
//!
//! A process gives out a block's numbers without asking anybody, and has the next block by the time the first is half used
//! up: while MySQL is away, claims go on for as long as the numbers last. What a process does not give out is left out.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use mysql_async::Conn;
use parking_lot::{Mutex, RwLock};
use tokio::time::{Instant, timeout};

use super::columns::{Columns, execute, first};
use super::database::{Database, QUICK};
use super::job::run;
use super::trouble::Fault;
use crate::{Sequences, StoreError};

/// The first block; each further one is twice the last.
const FIRST_BLOCK: u64 = 4_096;
/// At 10,000 orders a second, half a minute to a minute without MySQL; of a day's 2^28 numbers, a thousand blocks.
const LARGEST_BLOCK: u64 = 1 << 19;
const OP: &str = "next number";

pub(super) struct MysqlSequences {
    database: Database,
    counters: RwLock<HashMap<(&'static str, u64), Arc<Counter>>>,
}

struct Counter {
    name: &'static str,
    day: u64,
    numbers: Mutex<Numbers>,
    /// Held by the one that reserves.
    reserving: Arc<tokio::sync::Mutex<LastTry>>,
}

/// What may be given out.
struct Numbers {
    ranges: VecDeque<Range<u64>>,
    left: u64,
    /// With fewer left, more are asked for.
    low: u64,
    /// The block that is asked for next.
    block: u64,
}

/// How the last reservation failed, if it did: whoever waited for it need not try again.
#[derive(Default)]
struct LastTry {
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
                run(async move { first(conn, sql, (name, day), Columns::next::<u64>).await })
            })
            .await?;
        Ok(reserved.and_then(|reserved| reserved.checked_sub(1)))
    }
}

impl Numbers {
    /// The next number, and whether there are few left.
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
        self.block = (self.block * 2).min(LARGEST_BLOCK);
    }
}

impl Counter {
    fn new(name: &'static str, day: u64) -> Self {
        let numbers = Numbers { ranges: VecDeque::new(), left: 0, low: 0, block: FIRST_BLOCK };
        Self { name, day, numbers: Mutex::new(numbers), reserving: Arc::default() }
    }

    /// Reserves for those to come, unless somebody does.
    fn reserve_soon(self: &Arc<Self>, database: &Database) {
        let Ok(mut last) = Arc::clone(&self.reserving).try_lock_owned() else { return };
        let (counter, its_database) = (Arc::clone(self), database.clone());
        database.spawn(async move {
            if let Err(error) = counter.reserve(&its_database, &mut last).await {
                tracing::warn!(%error, left = counter.numbers.lock().left, "no further numbers could be reserved");
            }
        });
    }

    /// Waits until there are numbers.
    async fn reserve_now(&self, database: &Database) -> Result<(), StoreError> {
        let begun = Instant::now();
        let Ok(mut last) = timeout(QUICK, self.reserving.lock()).await else {
            return Err(Fault::Silence(QUICK).explain(OP));
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

    async fn reserve(&self, database: &Database, last: &mut LastTry) -> Result<(), StoreError> {
        let block = self.numbers.lock().block;
        let reserved = database
            .write(OP, |conn| run(async move { reserve(conn, self.name, self.day, block).await }))
            .await;
        last.failed = reserved.as_ref().err().map(|error| (Instant::now(), error.to_string()));
        self.numbers.lock().add(reserved?);
        Ok(())
    }
}

/// A block whose answer is lost is left out: it was reserved.
async fn reserve(conn: &mut Conn, name: &str, day: u64, block: u64) -> Result<Range<u64>, Fault> {
    let sql = "INSERT INTO sequences (name, day, reserved) VALUES (?, ?, ?)
               ON DUPLICATE KEY UPDATE reserved = reserved + ?";
    execute(conn, sql, (name, day, block, block)).await?;
    // The row is this transaction's until it ends.
    let sql = "SELECT reserved FROM sequences WHERE name = ? AND day = ?";
    let end = first(conn, sql, (name, day), Columns::next::<u64>).await?.unwrap_or_default();
    let start = end.checked_sub(block).ok_or_else(|| Fault::Corrupt("sequences.reserved".into()))?;
    Ok(start..end)
}
