//! Commits that are durable in the write-ahead log, on their way to the sled store.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use mallbox_storage::Claim;
use parking_lot::{Condvar, Mutex};

use super::store::Change;

/// Changed entries by key; `None` stands for a removed entry.
pub(super) type Changes = HashMap<Vec<u8>, Option<Vec<u8>>>;

/// Durable commits since the last [`take`](Backlog::take).
#[derive(Debug)]
pub(super) struct Backlog {
    gathered: Mutex<Gathered>,
    closed: Condvar,
    /// Commits up to this number are needed in the write-ahead log no longer.
    released: AtomicU64,
}

/// What a checkpoint writes.
#[derive(Default, Debug)]
pub(super) struct Gathered {
    /// The last durable commit.
    pub(super) last: u64,
    /// Commits with claims, ascending.
    pub(super) commits: Vec<(u64, Vec<Claim>)>,
    pub(super) changes: Changes,
    pub(super) is_closing: bool,
}

impl Backlog {
    /// Makes a backlog behind the commit `last`.
    pub(super) fn new(last: u64) -> Self {
        let gathered = Gathered { last, ..Gathered::default() };
        Self { gathered: Mutex::new(gathered), closed: Condvar::new(), released: AtomicU64::new(0) }
    }

    /// Adds a durable commit.
    pub(super) fn add(&self, number: u64, claims: Vec<Claim>, changes: Vec<Change>) {
        let mut gathered = self.gathered.lock();
        gathered.last = number;
        if !claims.is_empty() {
            gathered.commits.push((number, claims));
        }
        gathered.changes.extend(changes.into_iter().map(|change| (change.key, change.value)));
    }

    /// Waits for the backlog to be closed, at most for `time`. Then takes what was gathered.
    pub(super) fn take(&self, time: Duration) -> Gathered {
        let mut gathered = self.gathered.lock();
        if !gathered.is_closing {
            self.closed.wait_for(&mut gathered, time);
        }
        let rest = Gathered { last: gathered.last, is_closing: gathered.is_closing, ..Gathered::default() };
        std::mem::replace(&mut gathered, rest)
    }

    /// Announces that nothing will be added any more.
    pub(super) fn close(&self) {
        self.gathered.lock().is_closing = true;
        self.closed.notify_all();
    }

    /// Releases commits up to `number` in the write-ahead log.
    pub(super) fn release(&self, number: u64) {
        self.released.fetch_max(number, Ordering::Release);
    }

    /// Returns the number up to which commits are released.
    pub(super) fn released(&self) -> u64 {
        self.released.load(Ordering::Acquire)
    }
}
