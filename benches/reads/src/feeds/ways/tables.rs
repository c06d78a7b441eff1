//! Follows and notes in MySQL, which all ways of tutorials share.

use std::sync::atomic::{AtomicI64, Ordering};

use mallbox_bench_ports::BenchError;
use mysql_async::prelude::Queryable as _;

use crate::Servers;
use crate::feeds::crowd::Crowd;
use crate::feeds::feed::Written;

const DROP: &str = "DROP TABLE IF EXISTS bench_authors, bench_follows, bench_notes";
const CREATE: [&str; 3] = [
    "CREATE TABLE bench_authors (id BIGINT UNSIGNED PRIMARY KEY, fans INT UNSIGNED NOT NULL)",
    "CREATE TABLE bench_follows (fan BIGINT UNSIGNED NOT NULL, author BIGINT UNSIGNED NOT NULL, \
     PRIMARY KEY (fan, author), KEY by_author (author, fan))",
    "CREATE TABLE bench_notes (id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, author BIGINT UNSIGNED NOT NULL, \
     at_ms BIGINT NOT NULL, title VARCHAR(255) NOT NULL, KEY by_author (author, at_ms))",
];
/// Rows of a statement.
const BATCH: usize = 1_000;
/// Time before the first note, in ms. Each note is a millisecond younger, so that the order is certain.
const BEGIN_MS: i64 = 1_795_262_400_000;

/// The tables.
pub(super) struct Tables {
    servers: Servers,
    /// Time of the newest note.
    now_ms: AtomicI64,
}

/// Returns the notes that a crowd has written before, oldest first.
pub(super) fn earlier(crowd: Crowd) -> impl Iterator<Item = Written> {
    let written = |(note, author): (u64, u64)| Written { note, author, at_ms: BEGIN_MS + note.cast_signed() };
    crowd.notes().map(written)
}

impl Tables {
    /// Creates the tables with the follows and the notes of a crowd.
    pub(super) async fn create(servers: &Servers, crowd: Crowd) -> Result<Self, BenchError> {
        servers.run(&[DROP]).await?;
        servers.run(&CREATE).await?;
        let now_ms = BEGIN_MS + crowd.notes().count() as i64;
        let tables = Self { servers: servers.clone(), now_ms: AtomicI64::new(now_ms) };
        let authors = crowd.authors().map(|author| {
            let fans = if author == Crowd::STAR { crowd.fans } else { crowd.readers().count() as u64 };
            format!("({author},{fans})")
        });
        tables.fill("bench_authors (id, fans)", authors).await?;
        let follows = crowd.follows().map(|(fan, author)| format!("({fan},{author})"));
        tables.fill("bench_follows (fan, author)", follows).await?;
        let notes = earlier(crowd)
            .map(|Written { note, author, at_ms }| format!("({note},{author},{at_ms},'a bowl of noodles')"));
        tables.fill("bench_notes (id, author, at_ms, title)", notes).await?;
        // As MySQL does by itself some seconds after so many rows.
        servers.run(&["ANALYZE TABLE bench_authors, bench_follows, bench_notes"]).await?;
        Ok(tables)
    }

    async fn fill(&self, columns: &str, rows: impl Iterator<Item = String>) -> Result<(), BenchError> {
        let rows: Vec<String> = rows.collect();
        let mut connection = self.servers.mysql.get_conn().await?;
        for batch in rows.chunks(BATCH) {
            connection.query_drop(format!("INSERT INTO {columns} VALUES {}", batch.join(","))).await?;
        }
        Ok(())
    }

    /// Inserts a note.
    pub(super) async fn insert(&self, author: u64) -> Result<Written, BenchError> {
        let at_ms = self.now_ms.fetch_add(1, Ordering::Relaxed) + 1;
        let mut connection = self.servers.mysql.get_conn().await?;
        let sql = "INSERT INTO bench_notes (author, at_ms, title) VALUES (?, ?, 'a bowl of noodles')";
        connection.exec_drop(sql, (author, at_ms)).await?;
        let note = connection.last_insert_id().unwrap_or_default();
        Ok(Written { note, author, at_ms })
    }

    pub(super) async fn delete(&self, note: u64) -> Result<(), BenchError> {
        let mut connection = self.servers.mysql.get_conn().await?;
        Ok(connection.exec_drop("DELETE FROM bench_notes WHERE id = ?", (note,)).await?)
    }

    pub(super) async fn follow(&self, fan: u64, author: u64) -> Result<(), BenchError> {
        let mut connection = self.servers.mysql.get_conn().await?;
        connection.exec_drop("INSERT INTO bench_follows (fan, author) VALUES (?, ?)", (fan, author)).await?;
        Ok(connection.exec_drop("UPDATE bench_authors SET fans = fans + 1 WHERE id = ?", (author,)).await?)
    }

    pub(super) async fn unfollow(&self, fan: u64, author: u64) -> Result<(), BenchError> {
        let mut connection = self.servers.mysql.get_conn().await?;
        connection.exec_drop("DELETE FROM bench_follows WHERE fan = ? AND author = ?", (fan, author)).await?;
        Ok(connection.exec_drop("UPDATE bench_authors SET fans = fans - 1 WHERE id = ?", (author,)).await?)
    }

    /// Returns a page of fans of an author, by id, after `after`.
    pub(super) async fn fans(&self, author: u64, after: u64, most: usize) -> Result<Vec<u64>, BenchError> {
        let sql = "SELECT fan FROM bench_follows WHERE author = ? AND fan > ? ORDER BY fan LIMIT ?";
        Ok(self.servers.mysql.get_conn().await?.exec(sql, (author, after, most)).await?)
    }

    /// Returns the number of fans of an author.
    pub(super) async fn count_fans(&self, author: u64) -> Result<u64, BenchError> {
        let sql = "SELECT fans FROM bench_authors WHERE id = ?";
        let fans: Option<u64> = self.servers.mysql.get_conn().await?.exec_first(sql, (author,)).await?;
        Ok(fans.unwrap_or_default())
    }

    /// Returns the newest notes of the authors that a reader follows, newest first: time and note. `join`
    /// restricts the authors `f.author`.
    pub(super) async fn followed(
        &self,
        reader: u64,
        join: &str,
        most: u32,
    ) -> Result<Vec<(i64, u64)>, BenchError> {
        let sql = format!(
            "SELECT n.at_ms, n.id FROM bench_follows f {join} \
             JOIN bench_notes n ON n.author = f.author WHERE f.fan = ? ORDER BY n.at_ms DESC LIMIT {most}"
        );
        Ok(self.servers.mysql.get_conn().await?.exec(sql, (reader,)).await?)
    }

    /// Reads the texts of notes. Returns those notes that are there, in the order given.
    pub(super) async fn texts(&self, notes: &[u64]) -> Result<Vec<u64>, BenchError> {
        if notes.is_empty() {
            return Ok(Vec::new());
        }
        let list = notes.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
        let sql = format!("SELECT id, title FROM bench_notes WHERE id IN ({list})");
        let found: Vec<(u64, String)> = self.servers.mysql.get_conn().await?.query(sql).await?;
        let is_there = |note: &u64| found.iter().any(|(id, title)| id == note && !title.is_empty());
        Ok(notes.iter().copied().filter(is_there).collect())
    }

    /// Drops the tables.
    pub(super) async fn remove(&self) -> Result<(), BenchError> {
        self.servers.run(&[DROP]).await
    }
}
