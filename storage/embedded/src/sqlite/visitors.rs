//! The [`Visitors`] port: sketches by day, in SQLite alone.
//!
//! Nothing is cached in memory. Visits arrive in batches, so a sketch is read and written once a second at
//! the most, and the sketches of a busy day cost nothing on the next.

use std::collections::BTreeMap;

use async_trait::async_trait;
use mallbox_storage::backend::is_kept;
use mallbox_storage::{
    Day, DaySpan, Salt, StoreError, VISITS_RETENTION_DAYS, Visit, VisitCounts, VisitTarget, Visitor,
    Visitors, VisitsOfDay,
};
use parking_lot::Mutex;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::Database;
use super::columns::{get_count, id};
use super::errors::unreadable;
use crate::sketch::Sketch;

/// Sketches per transaction: some 10 ms, during which other writers wait.
const SKETCHES_PER_TRANSACTION: usize = 100;

pub(crate) struct EmbeddedVisitors {
    database: Database,
    salts: Mutex<BTreeMap<Day, Salt>>,
}

/// New views and visitors of a day.
#[derive(Clone, Default)]
struct NewVisits {
    views: u64,
    visitors: Vec<Visitor>,
}

impl EmbeddedVisitors {
    pub(crate) fn new(database: Database) -> Self {
        Self { database, salts: Mutex::default() }
    }
}

/// Returns the row key: 0 for the mall, otherwise the shop's id.
fn number(of: VisitTarget) -> i64 {
    match of {
        VisitTarget::Mall => 0,
        VisitTarget::Shop(shop) => id(shop.get()),
    }
}

/// Groups visits by day and page, in key order.
fn by_row(visits: &[Visit], today: Day) -> Vec<((Day, i64), NewVisits)> {
    let mut rows = BTreeMap::<_, NewVisits>::new();
    for visit in visits.iter().filter(|visit| is_kept(visit.day, today)) {
        let news = rows.entry((visit.day, number(visit.of))).or_default();
        news.views = news.views.saturating_add(visit.views);
        news.visitors.push(visit.visitor);
    }
    rows.into_iter().collect()
}

fn sketch(bytes: &[u8], column: usize) -> rusqlite::Result<Sketch> {
    Sketch::unpack(bytes).ok_or_else(|| unreadable(column, "a sketch of visitors"))
}

fn add(conn: &Connection, (day, of): (Day, i64), news: &NewVisits) -> rusqlite::Result<()> {
    let day = day.to_string();
    let found: Option<Vec<u8>> = conn
        .prepare_cached("SELECT sketch FROM visits WHERE day = ?1 AND shop_id = ?2")?
        .query_row(params![day, of], |row| row.get(0))
        .optional()?;
    let mut visitors = found.as_deref().map_or_else(|| Ok(Sketch::new()), |bytes| sketch(bytes, 0))?;
    news.visitors.iter().for_each(|visitor| visitors.add(*visitor));
    let views = i64::try_from(news.views).unwrap_or(i64::MAX);
    let bytes = visitors.pack();
    if found.is_some_and(|found| found == bytes) {
        // No new visitor: only the small counter is written.
        let raise = "UPDATE visits SET views = views + ?3 WHERE day = ?1 AND shop_id = ?2";
        return conn.prepare_cached(raise)?.execute(params![day, of, views]).map(drop);
    }
    conn.prepare_cached(
        "INSERT INTO visits (day, shop_id, views, sketch) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (day, shop_id) DO UPDATE SET views = views + excluded.views, sketch = excluded.sketch",
    )?
    .execute(params![day, of, views, bytes])
    .map(drop)
}

fn drop_old(conn: &Connection, today: Day) -> rusqlite::Result<()> {
    let Some(last) = Day::from_number(today.number() - VISITS_RETENTION_DAYS) else { return Ok(()) };
    conn.prepare_cached("DELETE FROM visits WHERE day <= ?1")?.execute([last.to_string()]).map(drop)
}

fn count(conn: &Connection, of: i64, span: DaySpan, today: Day) -> rusqlite::Result<VisitCounts> {
    let mut select =
        conn.prepare_cached("SELECT views, sketch FROM visits WHERE day = ?1 AND shop_id = ?2")?;
    let mut all = Sketch::new();
    let mut of_day = |day: Day| {
        let found = select
            .query_row(params![day.to_string(), of], |row| {
                Ok((get_count(row, 0)?, sketch(row.get_ref(1)?.as_blob()?, 1)?))
            })
            .optional()?;
        let (views, visitors) = found.map_or((0, 0), |(views, mut visitors)| {
            all.merge(&visitors);
            (views, visitors.count())
        });
        Ok(VisitsOfDay { day, visitors, views })
    };
    let none = |day| VisitsOfDay { day, visitors: 0, views: 0 };
    let days = span.days().map(|day| if is_kept(day, today) { of_day(day) } else { Ok(none(day)) });
    let days = days.collect::<rusqlite::Result<_>>()?;
    Ok(VisitCounts { days, visitors: all.count() })
}

#[async_trait]
impl Visitors for EmbeddedVisitors {
    async fn note(&self, visits: &[Visit], today: Day) -> Result<(), StoreError> {
        for rows in by_row(visits, today).chunks(SKETCHES_PER_TRANSACTION) {
            let rows = rows.to_vec();
            let job = move |conn: &Connection| {
                drop_old(conn, today)?;
                rows.iter().try_for_each(|(row, news)| add(conn, *row, news))
            };
            self.database.write_bulk("note visits", job).await?;
        }
        Ok(())
    }

    async fn count(&self, of: VisitTarget, span: DaySpan, today: Day) -> Result<VisitCounts, StoreError> {
        self.database.read("count visits", move |conn| count(conn, number(of), span, today)).await
    }

    async fn salt(&self, day: Day, offered: Salt) -> Result<Salt, StoreError> {
        let mut salts = self.salts.lock();
        // Around midnight, visits of the day before still arrive.
        salts.retain(|other, _| (other.number() - day.number()).abs() <= 1);
        Ok(*salts.entry(day).or_insert(offered))
    }
}
