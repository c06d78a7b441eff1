//! [`EventSubscribers`] in MySQL.

use async_trait::async_trait;
use mallbox_storage::backend::{kinds_in_row, kinds_of_row, shortened_error};
use mallbox_storage::{
    EventSubscribers, EventTarget, NewSubscriber, StoreError, SubscribeOutcome, Subscriber, SubscriberId,
    Timestamp,
};
use mysql_async::Conn;

use super::columns::{Columns, all, execute, first};
use super::database::Database;
use super::errors::MysqlError;
use super::events;
use super::job::boxed;

pub(super) struct MysqlEventSubscribers(pub(super) Database);

#[async_trait]
impl EventSubscribers for MysqlEventSubscribers {
    async fn subscribe(
        &self,
        subscriber: &NewSubscriber,
        most: u32,
        now: Timestamp,
    ) -> Result<SubscribeOutcome, StoreError> {
        let done = self
            .0
            .write("subscribe", |conn| boxed(async move { subscribe(conn, subscriber, most, now).await }))
            .await;
        // After an error as well: the row may be there.
        self.0.subscribers().subscribed();
        done
    }

    async fn unsubscribe(&self, subscriber: SubscriberId) -> Result<bool, StoreError> {
        let sql = "DELETE FROM event_subscribers WHERE id = ?";
        let removed = self
            .0
            .write_at_once("unsubscribe", |conn| {
                boxed(async move { execute(conn, sql, (subscriber.get(),)).await })
            })
            .await?;
        Ok(removed > 0)
    }

    async fn list(&self) -> Result<Vec<Subscriber>, StoreError> {
        let sql =
            "SELECT id, name, target, url, secret, kinds, at_position, is_paused, lost, error, error_ms, created_ms
             FROM event_subscribers ORDER BY id";
        let before = self.0.subscribers().before_reading();
        let found = self
            .0
            .read("subscribers", |conn| boxed(async move { all(conn, sql, (), subscriber).await }))
            .await?;
        self.0.subscribers().read(before, !found.is_empty());
        Ok(found)
    }

    async fn put_paused(&self, subscriber: SubscriberId, paused: bool) -> Result<bool, StoreError> {
        let sql = "UPDATE event_subscribers SET is_paused = ? WHERE id = ?";
        let found = self
            .0
            .write_at_once("pause subscriber", |conn| {
                boxed(async move { execute(conn, sql, (paused, subscriber.get())).await })
            })
            .await?;
        Ok(found > 0)
    }

    async fn advance(
        &self,
        subscriber: SubscriberId,
        from: u64,
        to: u64,
        lost: u64,
    ) -> Result<bool, StoreError> {
        let sql =
            "UPDATE event_subscribers SET at_position = ?, lost = lost + ?, error = NULL, error_ms = NULL
                   WHERE id = ? AND at_position = ?";
        let moved = self
            .0
            .write_at_once("advance subscriber", |conn| {
                boxed(async move { execute(conn, sql, (to, lost, subscriber.get(), from)).await })
            })
            .await?;
        Ok(moved > 0)
    }

    async fn report(&self, subscriber: SubscriberId, error: &str, now: Timestamp) -> Result<(), StoreError> {
        let sql = "UPDATE event_subscribers SET error = ?, error_ms = ? WHERE id = ?";
        let row = (shortened_error(error), now.as_millis(), subscriber.get());
        self.0
            .write_at_once("report of subscriber", |conn| {
                boxed(async move { execute(conn, sql, row).await.map(drop) })
            })
            .await
    }
}

async fn subscribe(
    conn: &mut Conn,
    subscriber: &NewSubscriber,
    most: u32,
    now: Timestamp,
) -> Result<SubscribeOutcome, MysqlError> {
    let NewSubscriber { name, target, kinds } = subscriber;
    let sql = "SELECT id FROM event_subscribers WHERE name = ?";
    if first(conn, sql, (name,), Columns::next::<u64>).await?.is_some() {
        return Ok(SubscribeOutcome::NameTaken);
    }
    let count = first(conn, "SELECT COUNT(*) FROM event_subscribers", (), Columns::count).await?;
    if count.unwrap_or_default() >= u64::from(most) {
        return Ok(SubscribeOutcome::TooMany);
    }
    let (url, secret) = target.url_and_secret();
    let head = events::ends(conn).await?.head;
    let sql = "INSERT INTO event_subscribers (name, target, url, secret, kinds, at_position, created_ms)
               VALUES (?, ?, ?, ?, ?, ?, ?)";
    let row = (name, target.name(), url, secret, kinds_in_row(kinds), head, now.as_millis());
    match execute(conn, sql, row).await {
        Err(fault) if fault.is_duplicate_key() => return Ok(SubscribeOutcome::NameTaken),
        done => done?,
    };
    Ok(SubscribeOutcome::Subscribed(SubscriberId::new(conn.last_insert_id().unwrap_or_default())))
}

/// Returns whether there is a subscriber.
pub(super) async fn are_any(conn: &mut Conn) -> Result<bool, MysqlError> {
    Ok(first(conn, "SELECT id FROM event_subscribers LIMIT 1", (), Columns::next::<u64>).await?.is_some())
}

fn subscriber(row: &mut Columns) -> Result<Subscriber, MysqlError> {
    let id = SubscriberId::new(row.next()?);
    let name = row.next()?;
    let target: String = row.next()?;
    let target = EventTarget::of_row(&target, row.next()?, row.next()?)
        .ok_or_else(|| MysqlError::Corrupt(format!("event_subscribers.target ({target})")))?;
    let kinds: String = row.next()?;
    let kinds = kinds_of_row(&kinds).ok_or_else(|| row.unreadable_last(kinds))?;
    let (cursor, is_paused, lost) = (row.next()?, row.next()?, row.next()?);
    let error: Option<String> = row.next()?;
    Ok(Subscriber {
        id,
        name,
        target,
        kinds,
        cursor,
        is_paused,
        lost,
        error: error.zip(row.time_if_any()?),
        created: row.time()?,
    })
}
