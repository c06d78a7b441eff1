//! [`Events`] in MySQL.
//!
//! The row of `event_ends` is the lock of positions. Numbers of `event_outbox` become visible out of order,
//! so nobody reads them behind a cursor.

use std::collections::HashSet;

use async_trait::async_trait;
use mallbox_storage::backend::Numbered as _;
use mallbox_storage::{
    EVENTS_MAX, EventCounts, EventEnds, EventKind, EventPage, Events, StoreError, StoredEvent, Timestamp,
};
use mysql_async::{Conn, Value};

use super::columns::{Columns, all, execute, first};
use super::database::Database;
use super::errors::MysqlError;
use super::job::boxed;
use super::multi_row;

pub(super) struct MysqlEvents(pub(super) Database);

#[async_trait]
impl Events for MysqlEvents {
    async fn number(&self, max: u32, now: Timestamp) -> Result<u64, StoreError> {
        let max = max.min(EVENTS_MAX);
        let done = self.0.try_bulk(|conn| boxed(async move { number(conn, max, now).await })).await;
        done.map_err(|fault| fault.into_store_error("number events"))
    }

    async fn after(&self, position: u64, max: u32) -> Result<EventPage, StoreError> {
        let sql = "SELECT position, kind, subject_id, body, at_ms FROM events
                   WHERE position > ? ORDER BY position LIMIT ?";
        let which = (position, max.min(EVENTS_MAX));
        self.0
            .read("events", |conn| {
                boxed(async move {
                    let events = all(conn, sql, which, event).await?;
                    Ok(EventPage::new(position, events, ends(conn).await?))
                })
            })
            .await
    }

    async fn prune(&self, before: Timestamp, max: u32) -> Result<u64, StoreError> {
        let done = self.0.try_bulk(|conn| boxed(async move { prune(conn, before, max).await })).await;
        done.map_err(|fault| fault.into_store_error("prune events"))
    }

    async fn counts(&self) -> Result<EventCounts, StoreError> {
        self.0
            .read("counts of events", |conn| {
                boxed(async move {
                    let sql = "SELECT COUNT(*) FROM event_outbox WHERE due_ms = 0";
                    let waiting = first(conn, sql, (), Columns::count).await?.unwrap_or_default();
                    Ok(EventCounts { ends: ends(conn).await?, waiting })
                })
            })
            .await
    }
}

/// Returns both ends of the stored events.
pub(super) async fn ends(conn: &mut Conn) -> Result<EventEnds, MysqlError> {
    let sql = "SELECT head, pruned FROM event_ends WHERE id = 1";
    Ok(first(conn, sql, (), both_ends).await?.unwrap_or_default())
}

async fn locked_ends(conn: &mut Conn) -> Result<EventEnds, MysqlError> {
    let sql = "SELECT head, pruned FROM event_ends WHERE id = 1 FOR UPDATE";
    first(conn, sql, (), both_ends)
        .await?
        .ok_or_else(|| MysqlError::Corrupt("event_ends (no row with id 1)".to_owned()))
}

fn both_ends(row: &mut Columns) -> Result<EventEnds, MysqlError> {
    Ok(EventEnds { head: row.next()?, pruned: row.next()? })
}

/// An event without a position.
struct Waiting {
    number: u64,
    kind: EventKind,
    subject: u64,
    body: String,
    at: i64,
}

async fn number(conn: &mut Conn, max: u32, now: Timestamp) -> Result<u64, MysqlError> {
    const SELECT: &str = "SELECT number, kind, subject_id, body, at_ms FROM event_outbox";
    let mut head = locked_ends(conn).await?.head;
    // Delayed events are read first: whatever was committed together with them is then among the others.
    let sql = format!("{SELECT} WHERE due_ms > 0 AND due_ms <= ? ORDER BY due_ms, number LIMIT ?");
    let mut delayed = all(conn, sql, (now.as_millis(), max), waiting).await?;
    let sql = format!("{SELECT} WHERE due_ms = 0 ORDER BY number LIMIT ?");
    let mut events = all(conn, sql, (max,), waiting).await?;
    delayed.truncate((max as usize).saturating_sub(events.len()));
    events.append(&mut delayed);
    if events.is_empty() {
        return Ok(0);
    }
    let numbers: Vec<u64> = events.iter().map(|event| event.number).collect();
    let unpaid = unpaid(conn, &events).await?;
    events.retain(|event| event.kind != EventKind::PaymentDue || unpaid.contains(&event.subject));
    let mut row = |Waiting { kind, subject, body, at, .. }: Waiting| -> [Value; 5] {
        head += 1;
        [head.into(), kind.number().into(), subject.into(), body.into(), at.into()]
    };
    let rows: Vec<[Value; 5]> = events.into_iter().map(&mut row).collect();
    let into = "INSERT INTO events (position, kind, subject_id, body, at_ms)";
    multi_row::insert(conn, into, "(?, ?, ?, ?, ?)", &rows).await?;
    multi_row::change_by_keys(conn, "DELETE FROM event_outbox WHERE number IN ({keys})", &[], &numbers)
        .await?;
    execute(conn, "UPDATE event_ends SET head = ? WHERE id = 1", (head,)).await?;
    Ok(numbers.len() as u64)
}

/// Returns the orders of the reminders that are still unpaid.
async fn unpaid(conn: &mut Conn, events: &[Waiting]) -> Result<HashSet<u64>, MysqlError> {
    let reminders = events.iter().filter(|event| event.kind == EventKind::PaymentDue);
    let orders: Vec<u64> = reminders.map(|event| event.subject).collect();
    let sql = "SELECT id FROM orders WHERE status = 1 AND id IN ({keys})";
    Ok(multi_row::select_by_keys(conn, sql, &[], &orders, Columns::next).await?.into_iter().collect())
}

async fn prune(conn: &mut Conn, before: Timestamp, max: u32) -> Result<u64, MysqlError> {
    locked_ends(conn).await?;
    let sql = "SELECT position, at_ms FROM events ORDER BY position LIMIT ?";
    let oldest = all(conn, sql, (max,), |row| Ok((row.next::<u64>()?, row.time()?))).await?;
    let Some((last, _)) = oldest.into_iter().take_while(|(_, at)| *at < before).last() else {
        return Ok(0);
    };
    let pruned = execute(conn, "DELETE FROM events WHERE position <= ?", (last,)).await?;
    execute(conn, "UPDATE event_ends SET pruned = ? WHERE id = 1", (last,)).await?;
    Ok(pruned)
}

fn waiting(row: &mut Columns) -> Result<Waiting, MysqlError> {
    Ok(Waiting {
        number: row.next()?,
        kind: row.known()?,
        subject: row.next()?,
        body: row.next()?,
        at: row.next()?,
    })
}

fn event(row: &mut Columns) -> Result<StoredEvent, MysqlError> {
    Ok(StoredEvent {
        position: row.next()?,
        kind: row.known()?,
        subject: row.next()?,
        body: row.next()?,
        at: row.time()?,
    })
}
