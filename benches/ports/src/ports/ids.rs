//! Unique ids: a row of the database, `INCR`, reserved blocks, a counter, and UUIDs.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::Sequences;
use mysql_async::Pool;
use mysql_async::prelude::Queryable as _;

use crate::bench::{Bench, Row};
use crate::error::{BenchError, ensure};
use crate::load::{Load, drive};
use crate::mall::{Keep, Mall, Raw};
use crate::part::Draft;
use crate::settings::{Settings, Side};

/// Name and day of the counters.
const NAME: &str = "bench";
const DAY: u64 = 20_700;
/// Ids compared with each other, and the callers that draw them.
const COMPARED: u64 = 5_000;
const DRAWERS: usize = 16;

pub(crate) fn parts(settings: &Settings) -> Vec<Draft> {
    let draft = |side: &Side| {
        let sources = if *side == Side::Directory { 5 } else { 3 };
        let measurements = sources * settings.callers().len();
        let seconds = 6.0 + measurements as f64 * settings.span().as_secs_f64();
        Draft { side: Some(*side), size: 0, measurements, seconds }
    };
    settings.sides.iter().map(draft).collect()
}

/// A source of ids.
#[async_trait]
trait Ids: Send + Sync {
    async fn next(&self) -> Result<u128, BenchError>;
}

pub(crate) async fn measure(bench: &mut Bench) -> Result<(), BenchError> {
    let mall = bench.own_mall(Keep::Durably).await?;
    for (back_end, note, ids) in sources(&mall).await? {
        are_unique(&ids, back_end).await?;
        for callers in bench.settings.callers() {
            let ids = Arc::clone(&ids);
            let timed = drive(Load::span(callers, bench.settings.span()), move |_| {
                let ids = Arc::clone(&ids);
                async move { ids.next().await.map(drop) }
            })
            .await?;
            bench.publish(Row {
                operation: "next",
                back_end,
                callers: Some(callers),
                timed: Some(&timed),
                memory: mall.memory().await?,
                note: note.clone(),
                ..Row::default()
            });
        }
    }
    mall.close().await
}

type Source = (&'static str, String, Arc<dyn Ids>);

async fn sources(mall: &Mall) -> Result<Vec<Source>, BenchError> {
    let blocks: Arc<dyn Ids> = Arc::new(Blocks(Arc::clone(&mall.storage.base.sequences)));
    let note = |text: &str| format!("{text}; {}", mall.durability());
    let of_block = note("a number of a block reserved durably; gaps after a crash");
    if let Some(raw) = mall.raw() {
        return Ok(vec![
            (
                "AUTO_INCREMENT in MySQL",
                note("a row inserted for each id"),
                Arc::new(MysqlRows::new(&raw).await?),
            ),
            ("INCR", note("a key for each day"), Arc::new(Incr(raw))),
            ("blocks, through Redis and MySQL", of_block, blocks),
        ]);
    }
    let rows = SqliteRows::new(mall)?;
    Ok(vec![
        ("AUTOINCREMENT in SQLite", note("a row inserted for each id, synchronous FULL"), Arc::new(rows)),
        ("blocks, in a directory", of_block, blocks),
        (
            "counter in memory",
            "starts anew with the process".to_owned(),
            Arc::new(Counter(AtomicU64::new(0))),
        ),
        ("UUID v4", "random: 128 bits, without an order".to_owned(), Arc::new(Random)),
        ("UUID v7", "by time: 128 bits".to_owned(), Arc::new(ByTime)),
    ])
}

async fn are_unique(ids: &Arc<dyn Ids>, name: &str) -> Result<(), BenchError> {
    let drawn = Arc::new(Mutex::new(HashSet::new()));
    let (ids, seen) = (Arc::clone(ids), Arc::clone(&drawn));
    drive(Load::count(DRAWERS, COMPARED, Duration::MAX), move |_| {
        let (ids, seen) = (Arc::clone(&ids), Arc::clone(&seen));
        async move {
            let id = ids.next().await?;
            let is_new = seen.lock().unwrap_or_else(PoisonError::into_inner).insert(id);
            ensure(is_new, || format!("id {id} was drawn twice"))
        }
    })
    .await?;
    let count = drawn.lock().unwrap_or_else(PoisonError::into_inner).len() as u64;
    ensure(count == COMPARED, || format!("{name}: {count} different ids of {COMPARED}"))
}

struct Blocks(Arc<dyn Sequences>);

#[async_trait]
impl Ids for Blocks {
    async fn next(&self) -> Result<u128, BenchError> {
        Ok(self.0.next(NAME, DAY).await?.into())
    }
}

struct Incr(Raw);

#[async_trait]
impl Ids for Incr {
    async fn next(&self) -> Result<u128, BenchError> {
        let id: u64 = self.0.redis.query(&self.0.command("INCR", "icr:order:2026:11:21")).await?;
        Ok(id.into())
    }
}

struct MysqlRows(Pool);

impl MysqlRows {
    async fn new(raw: &Raw) -> Result<Self, BenchError> {
        let pool = Pool::from_url(&raw.mysql)?;
        let sql = "CREATE TABLE bare_ids (id BIGINT PRIMARY KEY AUTO_INCREMENT)";
        pool.get_conn().await?.query_drop(sql).await?;
        Ok(Self(pool))
    }
}

#[async_trait]
impl Ids for MysqlRows {
    async fn next(&self) -> Result<u128, BenchError> {
        let mut connection = self.0.get_conn().await?;
        connection.query_drop("INSERT INTO bare_ids VALUES ()").await?;
        let id = connection.last_insert_id();
        id.map(u128::from).ok_or_else(|| BenchError::Wrong("MySQL returned no id".to_owned()))
    }
}

struct SqliteRows(Arc<Mutex<rusqlite::Connection>>);

impl SqliteRows {
    fn new(mall: &Mall) -> Result<Self, BenchError> {
        let dir = mall.dir().ok_or_else(|| BenchError::Wrong("no directory".to_owned()))?;
        let file = rusqlite::Connection::open(dir.join("ids.sqlite"))?;
        file.pragma_update(None, "journal_mode", "wal")?;
        file.pragma_update(None, "synchronous", "full")?;
        file.execute("CREATE TABLE ids (id INTEGER PRIMARY KEY AUTOINCREMENT)", [])?;
        Ok(Self(Arc::new(Mutex::new(file))))
    }
}

#[async_trait]
impl Ids for SqliteRows {
    async fn next(&self) -> Result<u128, BenchError> {
        let file = Arc::clone(&self.0);
        let inserted = tokio::task::spawn_blocking(move || {
            let file = file.lock().unwrap_or_else(PoisonError::into_inner);
            file.execute("INSERT INTO ids DEFAULT VALUES", [])?;
            Ok::<_, rusqlite::Error>(file.last_insert_rowid())
        });
        Ok(inserted.await??.unsigned_abs().into())
    }
}

struct Counter(AtomicU64);

#[async_trait]
impl Ids for Counter {
    async fn next(&self) -> Result<u128, BenchError> {
        Ok(self.0.fetch_add(1, Ordering::Relaxed).into())
    }
}

struct Random;

#[async_trait]
impl Ids for Random {
    async fn next(&self) -> Result<u128, BenchError> {
        Ok(uuid::Uuid::new_v4().as_u128())
    }
}

struct ByTime;

#[async_trait]
impl Ids for ByTime {
    async fn next(&self) -> Result<u128, BenchError> {
        Ok(uuid::Uuid::now_v7().as_u128())
    }
}
