//! Payment deadlines: the delay queue, beside a job that polls a table of orders.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use mallbox_storage::{Deadlines, OrderId, Timestamp};
use mysql_async::Pool;
use mysql_async::prelude::Queryable as _;

use crate::bench::{Bench, Row};
use crate::claims::NOON;
use crate::error::{BenchError, ensure};
use crate::insist::insist;
use crate::load::{Load, Timed, drive};
use crate::mall::{Keep, Mall, Raw};
use crate::part::Draft;
use crate::settings::{Settings, Side};

/// Orders set at once while the queue is filled.
const FILLED: usize = 1_000;
/// Orders that fall due together, and are handed out at once.
const DUE: u64 = 100;
/// Hand-outs and polls.
const TURNS: u64 = 20;

pub(crate) fn parts(settings: &Settings) -> Vec<Draft> {
    let sizes: &[u64] = settings.pick(&[10_000], &[10_000, 100_000, 1_000_000]);
    let measurements = settings.callers().len() + 3;
    let draft = |side: Side, size: u64| {
        let rows = if side == Side::Servers { 20_000.0 } else { 200_000.0 };
        let seconds = 4.0 + 2.0 * size as f64 / rows + measurements as f64 * settings.span().as_secs_f64();
        Draft { side: Some(side), size, measurements, seconds }
    };
    sizes.iter().flat_map(|size| settings.sides.iter().map(|side| draft(*side, *size))).collect()
}

/// Returns the deadline of an order by its number: a hundred orders fall due each second.
fn deadline(number: u64) -> Timestamp {
    NOON + Duration::from_secs(1 + number / DUE)
}

pub(crate) async fn measure(bench: &mut Bench) -> Result<(), BenchError> {
    let mall = bench.own_mall(Keep::Durably).await?;
    let (size, deadlines) = (bench.part.size, Arc::clone(&mall.storage.selling.deadlines));
    let all: Vec<_> = (0..size).map(|number| (OrderId::new(number + 1), deadline(number))).collect();
    for some in all.chunks(FILLED) {
        insist(|| deadlines.set(some)).await?;
    }
    drop(all);
    let memory = mall.memory().await?;
    let note = format!("the queue is restored from the unpaid orders; {}", mall.durability());
    let row = || Row { back_end: mall.side.back_end(), memory, note: note.clone(), ..Row::default() };
    let mut set = size;
    for callers in bench.settings.callers() {
        let (first, port) = (set, Arc::clone(&deadlines));
        let timed = drive(Load::span(callers, bench.settings.span()), move |number| {
            let (port, order) = (Arc::clone(&port), OrderId::new(1 + first + number));
            // Far behind the orders that fall due.
            let late = [(order, NOON + Duration::from_secs(1_000_000 + number))];
            async move { Ok(insist(|| port.set(&late)).await?) }
        })
        .await?;
        set += timed.done;
        bench.publish(Row { operation: "set", callers: Some(callers), timed: Some(&timed), ..row() });
    }
    let count = deadlines.count().await?;
    ensure(count == set, || format!("{count} deadlines are set, not {set}"))?;
    let timed = hand_out(&deadlines).await?;
    bench.publish(Row { operation: HAND_OUT, callers: Some(1), timed: Some(&timed), ..row() });
    for is_indexed in [false, true] {
        let table = table(&mall, is_indexed, size).await?;
        let timed = poll(&table).await?;
        let back_end = match (mall.side, is_indexed) {
            (Side::Directory, false) => "polling SQLite, full scan",
            (Side::Directory, true) => "polling SQLite, index",
            (Side::Servers, false) => "polling MySQL, full scan",
            (Side::Servers, true) => "polling MySQL, index",
        };
        let note = format!("an order is late by half an interval of the job; {}", mall.durability());
        let (callers, timed) = (Some(1), Some(&timed));
        bench.publish(Row { operation: HAND_OUT, back_end, callers, timed, memory: None, note, ..row() });
    }
    mall.close().await
}

const HAND_OUT: &str = "hand out 100 due orders and close them";

/// Hands out due orders, and checks that each is handed out at its instant: not before, and none is left.
async fn hand_out(deadlines: &Arc<dyn Deadlines>) -> Result<Timed, BenchError> {
    let mut times = Vec::new();
    for turn in 0..TURNS {
        let now = deadline(turn * DUE);
        let early = deadlines.due(now - Duration::from_millis(1), 1).await?;
        ensure(early.is_empty(), || format!("order {:?} was handed out before its deadline", early[0]))?;
        let began = Instant::now();
        let due = deadlines.due(now, usize::try_from(DUE).unwrap_or(usize::MAX)).await?;
        deadlines.clear(&due).await?;
        times.push(began.elapsed());
        let right: Vec<OrderId> =
            (turn * DUE..(turn + 1) * DUE).map(|number| OrderId::new(number + 1)).collect();
        ensure(due == right, || format!("{} orders were handed out, not the {DUE} due ones", due.len()))?;
    }
    Timed::of_batches(&times, TURNS * DUE)
}

/// A table of orders with their deadlines, of which a job closes the due ones.
enum Table {
    Sqlite(Arc<Mutex<rusqlite::Connection>>),
    Mysql { pool: Pool, name: &'static str },
}

async fn table(mall: &Mall, is_indexed: bool, rows: u64) -> Result<Table, BenchError> {
    let name = if is_indexed { "bare_indexed" } else { "bare_orders" };
    match (mall.raw(), mall.dir()) {
        (Some(raw), _) => in_mysql(&raw, name, is_indexed, rows).await,
        (None, Some(dir)) => in_sqlite(&dir.join(name), is_indexed, rows),
        (None, None) => Err(BenchError::Wrong("a mall without a place".to_owned())),
    }
}

fn in_sqlite(path: &std::path::Path, is_indexed: bool, rows: u64) -> Result<Table, BenchError> {
    let mut file = rusqlite::Connection::open(path)?;
    file.pragma_update(None, "journal_mode", "wal")?;
    file.pragma_update(None, "synchronous", "full")?;
    file.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, status INT, pay_before INT)", [])?;
    if is_indexed {
        file.execute("CREATE INDEX due ON orders (status, pay_before)", [])?;
    }
    let all = file.transaction()?;
    for number in 0..rows {
        let row = (number.cast_signed() + 1, deadline(number).as_millis());
        all.prepare_cached("INSERT INTO orders VALUES (?1, 1, ?2)")?.execute(row)?;
    }
    all.commit()?;
    Ok(Table::Sqlite(Arc::new(Mutex::new(file))))
}

async fn in_mysql(raw: &Raw, name: &'static str, is_indexed: bool, rows: u64) -> Result<Table, BenchError> {
    let pool = Pool::from_url(&raw.mysql)?;
    let mut connection = pool.get_conn().await?;
    let index = if is_indexed { ", INDEX due (status, pay_before)" } else { "" };
    let sql = format!("CREATE TABLE {name} (id BIGINT PRIMARY KEY, status INT, pay_before BIGINT{index})");
    connection.query_drop(sql).await?;
    let numbers: Vec<u64> = (0..rows).collect();
    for some in numbers.chunks(FILLED) {
        let values: Vec<String> = some
            .iter()
            .map(|number| format!("({},1,{})", number + 1, deadline(*number).as_millis()))
            .collect();
        connection.query_drop(format!("INSERT INTO {name} VALUES {}", values.join(","))).await?;
    }
    drop(connection);
    Ok(Table::Mysql { pool, name })
}

/// Polls as a scheduled job does, and closes the orders found.
async fn poll(table: &Table) -> Result<Timed, BenchError> {
    let mut times = Vec::new();
    for turn in 0..TURNS {
        let (now, began) = (deadline(turn * DUE), Instant::now());
        let due = table.close_due(now).await?;
        times.push(began.elapsed());
        ensure(due == DUE, || format!("{due} orders were found, not {DUE}"))?;
    }
    Timed::of_batches(&times, TURNS * DUE)
}

impl Table {
    /// Closes the orders that are due. Returns their number.
    async fn close_due(&self, now: Timestamp) -> Result<u64, BenchError> {
        match self {
            Self::Sqlite(file) => {
                let file = Arc::clone(file);
                tokio::task::spawn_blocking(move || close_in_sqlite(&file, now)).await?
            }
            Self::Mysql { pool, name } => {
                let mut connection = pool.get_conn().await?;
                let select =
                    format!("SELECT id FROM {name} WHERE status = 1 AND pay_before <= ? LIMIT {DUE}");
                let due: Vec<u64> = connection.exec(select, (now.as_millis(),)).await?;
                let ids: Vec<String> = due.iter().map(u64::to_string).collect();
                let update =
                    format!("UPDATE {name} SET status = 4 WHERE status = 1 AND id IN ({})", ids.join(","));
                connection.query_drop(update).await?;
                Ok(connection.affected_rows())
            }
        }
    }
}

fn close_in_sqlite(file: &Mutex<rusqlite::Connection>, now: Timestamp) -> Result<u64, BenchError> {
    let file = file.lock().unwrap_or_else(PoisonError::into_inner);
    let sql = "SELECT id FROM orders WHERE status = 1 AND pay_before <= ?1 LIMIT ?2";
    let due: Vec<i64> = file
        .prepare_cached(sql)?
        .query_map((now.as_millis(), DUE.cast_signed()), |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    let ids: Vec<String> = due.iter().map(i64::to_string).collect();
    let sql = format!("UPDATE orders SET status = 4 WHERE status = 1 AND id IN ({})", ids.join(","));
    Ok(file.execute(&sql, [])? as u64)
}
