//! The [`FeedRows`] port on SQLite.

use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use mallbox_storage::FeedEntry;
use mallbox_storage::backend::FeedRows;
use mallbox_storage::{NoteId, StoreError, Timestamp, UserId};
use rusqlite::{Connection, Params, Row};

use super::Database;
use super::columns::{after, get_id, get_time, id};

pub(crate) struct EmbeddedFeedRows {
    database: Database,
    /// Whether any author has many followers. In most malls none has, and feeds are read from memory alone.
    some_have_many_fans: AtomicBool,
}

impl EmbeddedFeedRows {
    pub(crate) fn load(database: Database) -> Result<Self, StoreError> {
        let some_have_many_fans = database.read_blocking("popular authors", |conn| {
            conn.prepare_cached("SELECT 1 FROM authors_with_many_fans LIMIT 1")?.exists([])
        })?;
        Ok(Self { database, some_have_many_fans: some_have_many_fans.into() })
    }

    async fn list<T: Send + 'static>(
        &self,
        op: &'static str,
        sql: &'static str,
        values: impl Params + Send + 'static,
        read: fn(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        let job = move |conn: &Connection| conn.prepare_cached(sql)?.query_map(values, read)?.collect();
        self.database.read(op, job).await
    }
}

fn entry(row: &Row<'_>) -> rusqlite::Result<FeedEntry> {
    Ok(FeedEntry { note: NoteId::new(get_id(row, 0)?), written: get_time(row, 1)? })
}

fn user(row: &Row<'_>) -> rusqlite::Result<UserId> {
    get_id(row, 0).map(UserId::new)
}

#[async_trait]
impl FeedRows for EmbeddedFeedRows {
    async fn followed(
        &self,
        reader: UserId,
        from: Timestamp,
        most: u32,
    ) -> Result<Vec<FeedEntry>, StoreError> {
        // SQLite executes a cross join in the order of the tables.
        let sql =
            "SELECT notes.id, notes.created_ms FROM follows CROSS JOIN notes ON notes.user_id = followee_id
                   AND notes.created_ms BETWEEN since_ms AND ?2
                   WHERE follows.user_id = ?1 ORDER BY notes.created_ms DESC, notes.id LIMIT ?3";
        self.list("feed", sql, (id(reader.get()), from.as_millis(), most), entry).await
    }

    async fn followed_with_many_fans(
        &self,
        reader: UserId,
        from: Timestamp,
        most: u32,
    ) -> Result<Vec<FeedEntry>, StoreError> {
        if !self.some_have_many_fans.load(Ordering::SeqCst) {
            return Ok(Vec::new());
        }
        let sql = "SELECT notes.id, notes.created_ms FROM authors_with_many_fans AS many
                   CROSS JOIN follows ON follows.user_id = ?1 AND followee_id = many.user_id
                   CROSS JOIN notes ON notes.user_id = followee_id AND notes.created_ms BETWEEN since_ms AND ?2
                   ORDER BY notes.created_ms DESC, notes.id LIMIT ?3";
        self.list("feed of popular authors", sql, (id(reader.get()), from.as_millis(), most), entry).await
    }

    async fn fans(&self, author: UserId, above: UserId, most: u32) -> Result<Vec<UserId>, StoreError> {
        let sql =
            "SELECT user_id FROM follows WHERE followee_id = ?1 AND user_id > ?2 ORDER BY user_id LIMIT ?3";
        self.list("fans by id", sql, (id(author.get()), after(above.get()), most), user).await
    }

    async fn has_many_fans(&self, author: UserId) -> Result<bool, StoreError> {
        let sql = "SELECT user_id FROM authors_with_many_fans WHERE user_id = ?1";
        Ok(!self.list("popular author", sql, [id(author.get())], user).await?.is_empty())
    }

    async fn put_many_fans(&self, author: UserId) -> Result<(), StoreError> {
        let job = move |conn: &Connection| {
            conn.prepare_cached(
                "INSERT INTO authors_with_many_fans (user_id) VALUES (?1) ON CONFLICT DO NOTHING",
            )?
            .execute([id(author.get())])
            .map(drop)
        };
        self.database.write("put popular author", job).await?;
        // Before the fan-out of the note, and so before any reader needs the flag.
        self.some_have_many_fans.store(true, Ordering::SeqCst);
        Ok(())
    }

    async fn not_passed_on(
        &self,
        before: Timestamp,
        max: u32,
    ) -> Result<Vec<(FeedEntry, UserId)>, StoreError> {
        let sql = "SELECT id, created_ms, user_id FROM notes WHERE pushed = 0 AND created_ms < ?1
                   ORDER BY created_ms, id LIMIT ?2";
        let read = |row: &Row<'_>| Ok((entry(row)?, UserId::new(get_id(row, 2)?)));
        self.list("pending fan-outs", sql, (before.as_millis(), max), read).await
    }

    async fn put_passed_on(&self, note: NoteId) -> Result<(), StoreError> {
        let job = move |conn: &Connection| {
            conn.prepare_cached("UPDATE notes SET pushed = 1 WHERE id = ?1")?
                .execute([id(note.get())])
                .map(drop)
        };
        self.database.write("complete fan-out", job).await
    }
}
