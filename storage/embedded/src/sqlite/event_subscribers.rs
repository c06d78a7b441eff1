//! The [`EventSubscribers`] port on SQLite.

use async_trait::async_trait;
use mallbox_storage::backend::{kinds_in_row, kinds_of_row, shortened_error};
use mallbox_storage::{
    EventSubscribers, EventTarget, NewSubscriber, StoreError, SubscribeOutcome, Subscriber, SubscriberId,
    Timestamp,
};
use rusqlite::{Connection, Row, params};

use super::columns::{get_count, get_id, get_time, get_time_if_any, id};
use super::errors::unreadable;
use super::{Database, events};

pub(crate) struct EmbeddedEventSubscribers(Database);

impl EmbeddedEventSubscribers {
    pub(crate) fn new(database: Database) -> Self {
        Self(database)
    }
}

#[async_trait]
impl EventSubscribers for EmbeddedEventSubscribers {
    async fn subscribe(
        &self,
        subscriber: &NewSubscriber,
        most: u32,
        now: Timestamp,
    ) -> Result<SubscribeOutcome, StoreError> {
        let subscriber = subscriber.clone();
        self.0.write("subscribe", move |conn| subscribe(conn, &subscriber, most, now)).await
    }

    async fn unsubscribe(&self, subscriber: SubscriberId) -> Result<bool, StoreError> {
        let job = move |conn: &Connection| {
            let delete = "DELETE FROM event_subscribers WHERE id = ?1";
            Ok(conn.prepare_cached(delete)?.execute([id(subscriber.get())])? > 0)
        };
        self.0.write("unsubscribe", job).await
    }

    async fn list(&self) -> Result<Vec<Subscriber>, StoreError> {
        let job = |conn: &Connection| {
            conn.prepare_cached(
                "SELECT id, name, target, url, secret, kinds, cursor, is_paused, lost, error, error_ms, created_ms
                 FROM event_subscribers ORDER BY id",
            )?
            .query_map([], subscriber)?
            .collect()
        };
        self.0.read("subscribers", job).await
    }

    async fn put_paused(&self, subscriber: SubscriberId, paused: bool) -> Result<bool, StoreError> {
        let job = move |conn: &Connection| {
            let update = "UPDATE event_subscribers SET is_paused = ?2 WHERE id = ?1";
            Ok(conn.prepare_cached(update)?.execute(params![id(subscriber.get()), paused])? > 0)
        };
        self.0.write("pause subscriber", job).await
    }

    async fn advance(
        &self,
        subscriber: SubscriberId,
        from: u64,
        to: u64,
        lost: u64,
    ) -> Result<bool, StoreError> {
        let job = move |conn: &Connection| {
            let moved = conn
                .prepare_cached(
                    "UPDATE event_subscribers SET cursor = ?3, lost = lost + ?4, error = NULL, error_ms = NULL
                     WHERE id = ?1 AND cursor = ?2",
                )?
                .execute([id(subscriber.get()), id(from), id(to), id(lost)])?;
            Ok(moved > 0)
        };
        self.0.write("advance subscriber", job).await
    }

    async fn report(&self, subscriber: SubscriberId, error: &str, now: Timestamp) -> Result<(), StoreError> {
        let error = shortened_error(error).to_owned();
        let job = move |conn: &Connection| {
            conn.prepare_cached("UPDATE event_subscribers SET error = ?2, error_ms = ?3 WHERE id = ?1")?
                .execute(params![id(subscriber.get()), error, now.as_millis()])
                .map(drop)
        };
        self.0.write("report of subscriber", job).await
    }
}

fn subscribe(
    conn: &Connection,
    subscriber: &NewSubscriber,
    most: u32,
    now: Timestamp,
) -> rusqlite::Result<SubscribeOutcome> {
    let NewSubscriber { name, target, kinds } = subscriber;
    if conn.prepare_cached("SELECT 1 FROM event_subscribers WHERE name = ?1")?.exists([name])? {
        return Ok(SubscribeOutcome::NameTaken);
    }
    let count = conn
        .prepare_cached("SELECT COUNT(*) FROM event_subscribers")?
        .query_row([], |row| get_count(row, 0))?;
    if count >= u64::from(most) {
        return Ok(SubscribeOutcome::TooMany);
    }
    let (url, secret) = target.url_and_secret();
    let head = id(events::ends(conn)?.head);
    conn.prepare_cached(
        "INSERT INTO event_subscribers (name, target, url, secret, kinds, cursor, created_ms)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?
    .execute(params![name, target.name(), url, secret, kinds_in_row(kinds), head, now.as_millis()])?;
    Ok(SubscribeOutcome::Subscribed(SubscriberId::new(conn.last_insert_rowid().cast_unsigned())))
}

fn subscriber(row: &Row<'_>) -> rusqlite::Result<Subscriber> {
    let target: String = row.get(2)?;
    let kinds: String = row.get(5)?;
    let error: Option<String> = row.get(9)?;
    Ok(Subscriber {
        id: SubscriberId::new(get_id(row, 0)?),
        name: row.get(1)?,
        target: EventTarget::of_row(&target, row.get(3)?, row.get(4)?)
            .ok_or_else(|| unreadable(2, target))?,
        kinds: kinds_of_row(&kinds).ok_or_else(|| unreadable(5, kinds))?,
        cursor: get_count(row, 6)?,
        is_paused: row.get(7)?,
        lost: get_count(row, 8)?,
        error: error.zip(get_time_if_any(row, 10)?),
        created: get_time(row, 11)?,
    })
}
