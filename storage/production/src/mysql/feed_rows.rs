//! [`FeedRows`] in MySQL.

use async_trait::async_trait;
use mallbox_storage::FeedEntry;
use mallbox_storage::backend::FeedRows;
use mallbox_storage::{NoteId, StoreError, Timestamp, UserId};
use mysql_async::Value;

use super::columns::{Columns, all, execute};
use super::database::Database;
use super::errors::MysqlError;
use super::job::boxed;

pub(super) struct MysqlFeedRows(pub(super) Database);

impl MysqlFeedRows {
    async fn list<T: Send>(
        &self,
        op: &'static str,
        sql: &str,
        values: Vec<Value>,
        read: fn(&mut Columns) -> Result<T, MysqlError>,
    ) -> Result<Vec<T>, StoreError> {
        let values = &values;
        self.0.read(op, |conn| boxed(async move { all(conn, sql, values.clone(), read).await })).await
    }
}

fn entry(row: &mut Columns) -> Result<FeedEntry, MysqlError> {
    Ok(FeedEntry { note: NoteId::new(row.next()?), written: row.time()? })
}

fn user(row: &mut Columns) -> Result<UserId, MysqlError> {
    row.next().map(UserId::new)
}

#[async_trait]
impl FeedRows for MysqlFeedRows {
    async fn followed(
        &self,
        reader: UserId,
        from: Timestamp,
        most: u32,
    ) -> Result<Vec<FeedEntry>, StoreError> {
        let sql = "SELECT notes.id, notes.created_ms FROM follows JOIN notes ON notes.user_id = followee_id
                   AND notes.created_ms BETWEEN since_ms AND ?
                   WHERE follows.user_id = ? ORDER BY notes.created_ms DESC, notes.id LIMIT ?";
        let values = vec![from.as_millis().into(), reader.get().into(), most.into()];
        self.list("feed", sql, values, entry).await
    }

    async fn followed_with_many_fans(
        &self,
        reader: UserId,
        from: Timestamp,
        most: u32,
    ) -> Result<Vec<FeedEntry>, StoreError> {
        let sql = "SELECT notes.id, notes.created_ms FROM authors_with_many_fans AS many
                   JOIN follows ON followee_id = many.user_id
                   JOIN notes ON notes.user_id = followee_id AND notes.created_ms BETWEEN since_ms AND ?
                   WHERE follows.user_id = ? ORDER BY notes.created_ms DESC, notes.id LIMIT ?";
        let values = vec![from.as_millis().into(), reader.get().into(), most.into()];
        self.list("feed of popular authors", sql, values, entry).await
    }

    async fn fans(&self, author: UserId, above: UserId, most: u32) -> Result<Vec<UserId>, StoreError> {
        let sql =
            "SELECT user_id FROM follows WHERE followee_id = ? AND user_id > ? ORDER BY user_id LIMIT ?";
        let values = vec![author.get().into(), above.get().into(), most.into()];
        self.list("fans by id", sql, values, user).await
    }

    async fn has_many_fans(&self, author: UserId) -> Result<bool, StoreError> {
        let sql = "SELECT user_id FROM authors_with_many_fans WHERE user_id = ?";
        let found = self.list("popular author", sql, vec![author.get().into()], user).await?;
        Ok(!found.is_empty())
    }

    async fn put_many_fans(&self, author: UserId) -> Result<(), StoreError> {
        let sql = "INSERT INTO authors_with_many_fans (user_id) VALUES (?)";
        let put = self.0.write_at_once("put popular author", |conn| {
            boxed(async move {
                match execute(conn, sql, (author.get(),)).await {
                    // The author was marked already.
                    Err(fault) if fault.is_duplicate_key() => Ok(()),
                    written => written.map(drop),
                }
            })
        });
        put.await
    }

    async fn not_passed_on(
        &self,
        before: Timestamp,
        max: u32,
    ) -> Result<Vec<(FeedEntry, UserId)>, StoreError> {
        let sql = "SELECT id, created_ms, user_id FROM notes WHERE pushed = 0 AND created_ms < ?
                   ORDER BY created_ms, id LIMIT ?";
        let values = vec![before.as_millis().into(), max.into()];
        self.list("pending fan-outs", sql, values, |row| Ok((entry(row)?, user(row)?))).await
    }

    async fn put_passed_on(&self, note: NoteId) -> Result<(), StoreError> {
        let sql = "UPDATE notes SET pushed = 1 WHERE id = ?";
        self.0
            .write_at_once("complete fan-out", |conn| {
                boxed(async move { execute(conn, sql, (note.get(),)).await.map(drop) })
            })
            .await
    }
}
