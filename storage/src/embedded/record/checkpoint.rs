//! Checkpoints: the WAL's pages go to the database file on a thread of their own, so that no commit waits for them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crossbeam::channel::{Receiver, RecvTimeoutError};
use parking_lot::Mutex;
use rusqlite::Connection;

/// The WAL is copied when it has grown by this many pages of 4 KiB (64 MiB): four times SQLite's own measure, since a
/// page that many commits touch is then copied once (MEASURED: 76,000 rows/s instead of 25,000).
const COPY_PAGES: i64 = 16_000;
/// What is younger may wait: a restart reads it from the WAL.
const COPY_AFTER: Duration = Duration::from_secs(5);
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// What the writer, the checkpointer and the readiness check tell each other.
#[derive(Debug, Default)]
pub(super) struct Pace {
    dirty: AtomicBool,
    /// The writer is to copy the rest of the WAL after its next transaction.
    pub(super) finish: AtomicBool,
    trouble: Mutex<Option<String>>,
}

impl Pace {
    /// There has been a commit.
    pub(super) fn wrote(&self) {
        self.dirty.store(true, Ordering::Relaxed);
    }

    /// Why the last commit failed, if it did.
    pub(super) fn trouble(&self) -> Option<String> {
        self.trouble.lock().clone()
    }

    /// How the last commit went.
    pub(super) fn set_trouble(&self, trouble: Option<String>) {
        let mut now = self.trouble.lock();
        if *now != trouble {
            *now = trouble;
        }
    }
}

pub(super) struct Checkpointer {
    pub(super) conn: Connection,
    pub(super) pace: Arc<Pace>,
    /// Nothing is ever sent: it closes when the record does.
    pub(super) closing: Receiver<()>,
}

impl Checkpointer {
    /// Works until the record closes.
    pub(super) fn run(self) {
        let mut last = Instant::now();
        while let Err(RecvTimeoutError::Timeout) = self.closing.recv_timeout(LOOK_EVERY) {
            if !self.pace.dirty.load(Ordering::Relaxed) {
                continue;
            }
            match self.look(last.elapsed() >= COPY_AFTER) {
                Ok(true) => last = Instant::now(),
                Ok(false) => {}
                // It is tried again at the next look; the WAL holds everything meanwhile.
                Err(error) => tracing::warn!(%error, "the record's checkpoint failed"),
            }
        }
    }

    /// Whether it copied.
    fn look(&self, is_time: bool) -> rusqlite::Result<bool> {
        let wal = wal_checkpoint(&self.conn, "PRAGMA wal_checkpoint(NOOP)")?;
        if wal.pages - wal.copied < COPY_PAGES && !is_time {
            return Ok(false);
        }
        self.pace.dirty.store(false, Ordering::Relaxed);
        let wal = passive(&self.conn)?;
        if wal.copied < wal.pages {
            self.pace.wrote();
        }
        if wal.pages >= COPY_PAGES {
            self.pace.finish.store(true, Ordering::Relaxed);
        }
        Ok(true)
    }
}

/// How the WAL is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wal {
    /// Pages in it.
    pub(super) pages: i64,
    /// Of these, in the database file too.
    pub(super) copied: i64,
}

/// Copies what can be copied without waiting for anybody.
pub(super) fn passive(conn: &Connection) -> rusqlite::Result<Wal> {
    wal_checkpoint(conn, "PRAGMA wal_checkpoint(PASSIVE)")
}

/// Copies everything and empties the WAL. Whether it could.
pub(super) fn truncate(conn: &Connection) -> rusqlite::Result<bool> {
    conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0)).map(|busy: i64| busy == 0)
}

fn wal_checkpoint(conn: &Connection, sql: &str) -> rusqlite::Result<Wal> {
    conn.query_row(sql, [], |row| Ok(Wal { pages: row.get(1)?, copied: row.get(2)? }))
}
