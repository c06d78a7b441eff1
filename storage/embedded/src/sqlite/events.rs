//! The [`Events`] port on SQLite.

use std::collections::HashSet;

use async_trait::async_trait;
use mallbox_storage::backend::Numbered as _;
use mallbox_storage::{
    EVENTS_MAX, EventCounts, EventEnds, EventKind, EventPage, Events, StoreError, StoredEvent, Timestamp,
};
use rusqlite::{Connection, Row, params};

use super::Database;
use super::columns::{after, get_count, get_id, get_known, get_time, id};

pub(crate) struct EmbeddedEvents(Database);

impl EmbeddedEvents {
    pub(crate) fn new(database: Database) -> Self {
        Self(database)
    }
}

#[async_trait]
impl Events for EmbeddedEvents {
    async fn number(&self, max: u32, now: Timestamp) -> Result<u64, StoreError> {
        self.0.write("number events", move |conn| number(conn, max.min(EVENTS_MAX), now)).await
    }

    async fn after(&self, position: u64, max: u32) -> Result<EventPage, StoreError> {
        let job = move |conn: &Connection| {
            let events = conn
                .prepare_cached(
                    "SELECT position, kind, subject_id, body, at_ms FROM events
                     WHERE position > ?1 ORDER BY position LIMIT ?2",
                )?
                .query_map([after(position), max.min(EVENTS_MAX).into()], event)?
                .collect::<rusqlite::Result<_>>()?;
            Ok(EventPage::new(position, events, ends(conn)?))
        };
        self.0.read("events", job).await
    }

    async fn prune(&self, before: Timestamp, max: u32) -> Result<u64, StoreError> {
        self.0.write("prune events", move |conn| prune(conn, before, max)).await
    }

    async fn counts(&self) -> Result<EventCounts, StoreError> {
        let job = |conn: &Connection| {
            let waiting = conn
                .prepare_cached("SELECT COUNT(*) FROM event_outbox WHERE due_ms = 0")?
                .query_row([], |row| get_count(row, 0))?;
            Ok(EventCounts { ends: ends(conn)?, waiting })
        };
        self.0.read("counts of events", job).await
    }
}

/// Returns both ends of the stored events.
pub(super) fn ends(conn: &Connection) -> rusqlite::Result<EventEnds> {
    conn.prepare_cached("SELECT head, pruned FROM event_ends WHERE id = 1")?
        .query_row([], |row| Ok(EventEnds { head: get_count(row, 0)?, pruned: get_count(row, 1)? }))
}

/// An event without a position.
struct Waiting {
    number: i64,
    kind: EventKind,
    subject: u64,
    body: String,
    at: Timestamp,
}

fn number(conn: &Connection, max: u32, now: Timestamp) -> rusqlite::Result<u64> {
    let mut waiting = waiting(conn, "due_ms = ?1 ORDER BY number LIMIT ?2", [0, max.into()])?;
    let at_once = waiting.len();
    if at_once < max as usize {
        // The acceptance of an order has got its position by now.
        let rest = i64::from(max) - id(at_once as u64);
        let due = "due_ms > 0 AND due_ms <= ?1 ORDER BY due_ms, number LIMIT ?2";
        waiting.extend(self::waiting(conn, due, [now.as_millis(), rest])?);
    }
    if waiting.is_empty() {
        return Ok(0);
    }
    let unpaid = unpaid(conn, waiting.iter().filter(|event| event.kind == EventKind::PaymentDue))?;
    let mut head = ends(conn)?.head;
    let mut insert = conn.prepare_cached(
        "INSERT INTO events (position, kind, subject_id, body, at_ms) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    let mut delete = conn.prepare_cached("DELETE FROM event_outbox WHERE number = ?1")?;
    for Waiting { number, kind, subject, body, at } in &waiting {
        if *kind != EventKind::PaymentDue || unpaid.contains(subject) {
            head += 1;
            insert.execute(params![id(head), kind.number(), id(*subject), body, at.as_millis()])?;
        }
        delete.execute([number])?;
    }
    conn.prepare_cached("UPDATE event_ends SET head = ?1 WHERE id = 1")?.execute([id(head)])?;
    Ok(waiting.len() as u64)
}

fn waiting(conn: &Connection, which: &str, values: [i64; 2]) -> rusqlite::Result<Vec<Waiting>> {
    conn.prepare_cached(&format!(
        "SELECT number, kind, subject_id, body, at_ms FROM event_outbox WHERE {which}"
    ))?
    .query_map(values, |row| {
        Ok(Waiting {
            number: row.get(0)?,
            kind: get_known(row, 1)?,
            subject: get_id(row, 2)?,
            body: row.get(3)?,
            at: get_time(row, 4)?,
        })
    })?
    .collect()
}

/// Returns the orders of the events that are still unpaid.
fn unpaid<'a>(
    conn: &Connection,
    events: impl Iterator<Item = &'a Waiting>,
) -> rusqlite::Result<HashSet<u64>> {
    let mut select = conn.prepare_cached("SELECT 1 FROM orders WHERE id = ?1 AND status = 1")?;
    let mut unpaid = HashSet::new();
    for event in events {
        if select.exists([id(event.subject)])? {
            unpaid.insert(event.subject);
        }
    }
    Ok(unpaid)
}

fn prune(conn: &Connection, before: Timestamp, max: u32) -> rusqlite::Result<u64> {
    let oldest: Vec<(i64, Timestamp)> = conn
        .prepare_cached("SELECT position, at_ms FROM events ORDER BY position LIMIT ?1")?
        .query_map([max], |row| Ok((row.get(0)?, get_time(row, 1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let Some((last, _)) = oldest.iter().take_while(|(_, at)| *at < before).last() else { return Ok(0) };
    let pruned = conn.prepare_cached("DELETE FROM events WHERE position <= ?1")?.execute([last])?;
    conn.prepare_cached("UPDATE event_ends SET pruned = ?1 WHERE id = 1")?.execute([last])?;
    Ok(pruned as u64)
}

fn event(row: &Row<'_>) -> rusqlite::Result<StoredEvent> {
    Ok(StoredEvent {
        position: get_count(row, 0)?,
        kind: get_known(row, 1)?,
        subject: get_id(row, 2)?,
        body: row.get(3)?,
        at: get_time(row, 4)?,
    })
}
