//! The [`Sequences`] port: counters in memory, with blocks of numbers reserved in the database.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use mallbox_storage::{CLOSED_COUNTER, Sequences, StoreError};
use parking_lot::{Mutex, RwLock};
use rusqlite::{Connection, OptionalExtension as _, params};
use tokio::sync::oneshot;

use super::Database;
use super::columns::{get_count, id};
use super::errors::closed;
use super::writer::shared_error;

/// Size of the first block; each further block doubles in size. The rest of a block is lost with the
/// process.
const FIRST_BLOCK: u64 = 4_096;
/// Upper bound on the block size: a rush of 100,000 claims per second uses up a block in over half a
/// second, and an fsync takes milliseconds.
const BLOCK_MAX: u64 = 65_536;

pub(crate) struct EmbeddedSequences {
    database: Database,
    counters: RwLock<HashMap<(&'static str, u64), Arc<Counter>>>,
}

struct Counter {
    name: &'static str,
    day: u64,
    /// The next number. Never passes `limit`.
    next: AtomicU64,
    /// Every number below the limit is durably reserved.
    limit: AtomicU64,
    /// Number at which the next block is requested.
    refill_at: AtomicU64,
    refill: Mutex<Refill>,
}

/// A caller blocked on the next block.
type Waiter = oneshot::Sender<Result<(), Arc<StoreError>>>;

struct Refill {
    block: u64,
    /// Whether `next` and `limit` continue from the database's value.
    is_loaded: bool,
    is_under_way: bool,
    waiters: Vec<Waiter>,
}

impl EmbeddedSequences {
    pub(crate) fn new(database: Database) -> Self {
        Self { database, counters: RwLock::default() }
    }

    fn counter(&self, name: &'static str, day: u64) -> Arc<Counter> {
        if let Some(counter) = self.counters.read().get(&(name, day)) {
            return Arc::clone(counter);
        }
        let new = || Arc::new(Counter::new(name, day));
        Arc::clone(self.counters.write().entry((name, day)).or_insert_with(new))
    }

    /// Requests the next block from the writer, unless a request is in progress.
    fn refill(&self, counter: &Arc<Counter>, waiter: Option<Waiter>) {
        let (after, block) = {
            let mut refill = counter.refill.lock();
            refill.waiters.extend(waiter);
            if refill.is_under_way {
                return;
            }
            refill.is_under_way = true;
            (refill.is_loaded.then(|| counter.limit.load(Ordering::Acquire)), refill.block)
        };
        let (name, day, counter) = (counter.name, counter.day, Arc::clone(counter));
        let job = move |conn: &Connection| reserve(conn, name, day, after, block);
        self.database.write_then("reserve numbers", job, move |reserved| counter.refilled(reserved));
    }
}

#[async_trait]
impl Sequences for EmbeddedSequences {
    async fn next(&self, name: &'static str, day: u64) -> Result<u64, StoreError> {
        const OP: &str = "next number";
        let counter = self.counter(name, day);
        loop {
            if let Some(number) = counter.take() {
                if number >= counter.refill_at.load(Ordering::Relaxed) {
                    self.refill(&counter, None);
                }
                return Ok(number);
            }
            let (sender, receiver) = oneshot::channel();
            self.refill(&counter, Some(sender));
            let refilled = receiver.await.map_err(|_| closed(OP))?;
            refilled.map_err(|error| shared_error(&error, OP))?;
        }
    }

    async fn high_water(&self, name: &'static str, day: u64) -> Result<Option<u64>, StoreError> {
        let known = self.counters.read().get(&(name, day)).cloned();
        if let Some(counter) = known
            && counter.refill.lock().is_loaded
        {
            return Ok(counter.next.load(Ordering::Acquire).checked_sub(1));
        }
        let reserved = self.database.read("high water", move |conn| reserved(conn, name, day)).await?;
        Ok(reserved.checked_sub(1))
    }

    async fn close(&self, name: &'static str, day: u64) -> Result<bool, StoreError> {
        self.database.write("close counter", move |conn| close(conn, name, day)).await
    }
}

impl Counter {
    fn new(name: &'static str, day: u64) -> Self {
        let refill =
            Refill { block: FIRST_BLOCK, is_loaded: false, is_under_way: false, waiters: Vec::new() };
        Self {
            name,
            day,
            next: AtomicU64::new(0),
            limit: AtomicU64::new(0),
            refill_at: AtomicU64::new(0),
            refill: Mutex::new(refill),
        }
    }

    fn take(&self) -> Option<u64> {
        // The limit only rises: a number below an observed limit stays below the limit for ever.
        let limit = self.limit.load(Ordering::Acquire);
        let step = |next| (next < limit).then_some(next + 1);
        self.next.fetch_update(Ordering::AcqRel, Ordering::Acquire, step).ok()
    }

    /// Applies the reservation of the numbers `from..to`.
    fn refilled(&self, reserved: Result<(u64, u64), StoreError>) {
        let (answer, waiters) = {
            let mut refill = self.refill.lock();
            refill.is_under_way = false;
            let answer = match reserved {
                Ok((from, to)) => {
                    if !refill.is_loaded {
                        refill.is_loaded = true;
                        self.next.store(from, Ordering::Release);
                    }
                    refill.block = (refill.block * 2).min(BLOCK_MAX);
                    // When half of the block is used up.
                    self.refill_at.store(to - (to - from) / 2, Ordering::Relaxed);
                    self.limit.store(to, Ordering::Release);
                    Ok(())
                }
                Err(error) => Err(Arc::new(error)),
            };
            (answer, std::mem::take(&mut refill.waiters))
        };
        for waiter in waiters {
            // A waiter that is gone needs no number.
            let _ = waiter.send(answer.clone());
        }
    }
}

/// Reserves a block after this process's last block, or, for the first block, after the database's value. A
/// block whose result was lost is reserved again and not skipped.
fn reserve(
    conn: &Connection,
    name: &str,
    day: u64,
    after: Option<u64>,
    block: u64,
) -> rusqlite::Result<(u64, u64)> {
    let from = match after {
        Some(after) => after,
        None => reserved(conn, name, day)?,
    };
    let to = from + block;
    conn.prepare_cached(
        "INSERT INTO sequences (name, day, reserved) VALUES (?1, ?2, ?3)
         ON CONFLICT (name, day) DO UPDATE SET reserved = excluded.reserved WHERE excluded.reserved > reserved",
    )?
    .execute(params![name, id(day), id(to)])?;
    Ok((from, to))
}

/// Marks every number of the day up to `highest` as used, because imported rows contain them.
pub(super) fn reserve_through(conn: &Connection, name: &str, day: u64, highest: u64) -> rusqlite::Result<()> {
    conn.prepare_cached("INSERT INTO sequences (name, day, reserved) VALUES (?1, ?2, ?3)")?
        .execute(params![name, id(day), id(highest + 1)])
        .map(drop)
}

/// Closes the counter unless its row exists. The writer runs one job at a time, so no block is reserved in
/// between.
fn close(conn: &Connection, name: &str, day: u64) -> rusqlite::Result<bool> {
    conn.prepare_cached(
        "INSERT INTO sequences (name, day, reserved) VALUES (?1, ?2, ?3) ON CONFLICT (name, day) DO NOTHING",
    )?
    .execute(params![name, id(day), id(CLOSED_COUNTER)])?;
    Ok(reserved(conn, name, day)? >= CLOSED_COUNTER)
}

fn reserved(conn: &Connection, name: &str, day: u64) -> rusqlite::Result<u64> {
    conn.prepare_cached("SELECT reserved FROM sequences WHERE name = ?1 AND day = ?2")?
        .query_row(params![name, id(day)], |row| get_count(row, 0))
        .optional()
        .map(Option::unwrap_or_default)
}
