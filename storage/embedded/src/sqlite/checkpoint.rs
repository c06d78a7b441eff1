//! Checkpoints: a thread of their own copies the WAL's pages to the database file, so that no commit waits
//! for the copy.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crossbeam::channel::{Receiver, RecvTimeoutError};
use mallbox_storage_integrity::PageChecksums;
use parking_lot::Mutex;
use rusqlite::Connection;

use super::commit_witness::WitnessSync;

/// Number of uncopied WAL pages of 4 KiB that triggers a checkpoint (64 MiB): sixteen times SQLite's
/// default, since a page changed by many commits is then copied once (MEASURED: 76,000 rows/s instead of
/// 25,000).
pub(crate) const COPY_PAGES: i64 = 16_000;
/// Maximum age of uncopied pages. Younger pages may stay in the WAL, where a restart reads them.
const COPY_AFTER: Duration = Duration::from_secs(5);
const CHECK_INTERVAL: Duration = Duration::from_millis(250);
/// Interval of syncs of the witness: after a power cut, only a commit of the last such moment can be taken
/// for one that nobody was told of.
const WITNESS_SYNC_INTERVAL: Duration = Duration::from_secs(1);

/// State shared by the writer, the checkpointer and the readiness check.
#[derive(Debug, Default)]
pub(super) struct CheckpointState {
    dirty: AtomicBool,
    /// Asks the writer to copy the rest of the WAL after its next transaction.
    pub(super) finish: AtomicBool,
    trouble: Mutex<Option<String>>,
}

impl CheckpointState {
    /// Records a commit.
    pub(super) fn wrote(&self) {
        self.dirty.store(true, Ordering::Relaxed);
    }

    /// Returns the error of the last commit, if the commit failed.
    pub(super) fn trouble(&self) -> Option<String> {
        self.trouble.lock().clone()
    }

    /// Stores the outcome of the last commit.
    pub(super) fn set_trouble(&self, trouble: Option<String>) {
        let mut now = self.trouble.lock();
        if *now != trouble {
            *now = trouble;
        }
    }
}

pub(super) struct Checkpointer {
    pub(super) conn: Connection,
    pub(super) pace: Arc<CheckpointState>,
    pub(super) checksums: Option<Arc<PageChecksums>>,
    pub(super) witness: Option<WitnessSync>,
    /// Nothing is ever sent: the channel is disconnected when the database closes.
    pub(super) closing: Receiver<()>,
}

impl Checkpointer {
    /// Runs until the database closes.
    pub(super) fn run(self) {
        let (mut last, mut synced) = (Instant::now(), Instant::now());
        while let Err(RecvTimeoutError::Timeout) = self.closing.recv_timeout(CHECK_INTERVAL) {
            if synced.elapsed() >= WITNESS_SYNC_INTERVAL {
                self.witness.iter().for_each(WitnessSync::sync);
                synced = Instant::now();
            }
            if !self.pace.dirty.load(Ordering::Relaxed) {
                continue;
            }
            match self.checkpoint_if_due(last.elapsed() >= COPY_AFTER) {
                Ok(true) => {
                    last = Instant::now();
                    self.shorten_checksums();
                }
                Ok(false) => {}
                // The next round retries; meanwhile the WAL holds everything.
                Err(error) => tracing::warn!(%error, "the SQLite checkpoint failed"),
            }
        }
    }

    fn shorten_checksums(&self) {
        if let Some(checksums) = &self.checksums
            && let Err(error) = checksums.shorten()
        {
            tracing::warn!(%error, "could not shorten the file of page checksums");
        }
    }

    /// Runs a checkpoint if due. Returns whether pages were copied.
    fn checkpoint_if_due(&self, is_time: bool) -> rusqlite::Result<bool> {
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

/// State of the WAL.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wal {
    /// Pages in the WAL.
    pub(super) pages: i64,
    /// Pages already copied to the database file.
    pub(super) copied: i64,
}

/// Returns the number of frames in the WAL.
pub(super) fn frames(conn: &Connection) -> rusqlite::Result<u32> {
    wal_checkpoint(conn, "PRAGMA wal_checkpoint(NOOP)").map(|wal| u32::try_from(wal.pages).unwrap_or(0))
}

/// Copies all pages that can be copied without waiting.
pub(super) fn passive(conn: &Connection) -> rusqlite::Result<Wal> {
    wal_checkpoint(conn, "PRAGMA wal_checkpoint(PASSIVE)")
}

/// Copies all pages and truncates the WAL. Returns false if a reader or writer blocked the truncation.
pub(super) fn truncate(conn: &Connection) -> rusqlite::Result<bool> {
    conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0)).map(|busy: i64| busy == 0)
}

fn wal_checkpoint(conn: &Connection, sql: &str) -> rusqlite::Result<Wal> {
    conn.query_row(sql, [], |row| Ok(Wal { pages: row.get(1)?, copied: row.get(2)? }))
}
