//! The decision log on its way to the database: bounded, and never awaited by a claim.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crossbeam::queue::ArrayQueue;
use mallbox_storage::{ATTEMPTS_SWEEP_MAX, Attempt, Attempts, StoreError, Timestamp};

/// Attempts in memory, 1.4 MiB: what a rush makes while the database takes a moment.
const QUEUE_MAX: usize = 10_000;
/// Attempts written per transaction, which must not keep orders waiting.
const BATCH_MAX: usize = 500;
/// Transactions per run.
const BATCHES_MAX: usize = 5;
/// Time for which attempts are kept.
const KEEP_FOR: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// Attempts kept.
const KEEP_MAX: u64 = 1_000_000;
/// Deletions per run: more than a run of [`AttemptLog::store`] adds in the time between.
const SWEEPS_MAX: usize = 100;

/// Attempts not yet in the database.
pub(super) struct AttemptLog {
    queue: ArrayQueue<Attempt>,
    lost: AtomicU64,
}

impl Default for AttemptLog {
    fn default() -> Self {
        Self { queue: ArrayQueue::new(QUEUE_MAX), lost: AtomicU64::new(0) }
    }
}

impl AttemptLog {
    /// Adds an attempt. A full log loses the attempt and counts it.
    pub(super) fn add(&self, attempt: Attempt) {
        if self.queue.push(attempt).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Returns the number of lost attempts.
    pub(super) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Returns whether no attempt waits to be written.
    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Writes waiting attempts.
    ///
    /// # Errors
    /// [`StoreError`]: the attempts of the failed transaction are lost and counted, since a repeat could
    /// store them twice.
    pub(super) async fn store(&self, attempts: &dyn Attempts) -> Result<(), StoreError> {
        for _ in 0..BATCHES_MAX {
            let batch: Vec<Attempt> = std::iter::from_fn(|| self.queue.pop()).take(BATCH_MAX).collect();
            if batch.is_empty() {
                break;
            }
            if let Err(error) = attempts.append(&batch).await {
                self.lost.fetch_add(batch.len() as u64, Ordering::Relaxed);
                return Err(error);
            }
        }
        Ok(())
    }
}

/// Deletes attempts that are too old or too many.
///
/// # Errors
/// [`StoreError`]: the next call continues.
pub(super) async fn sweep(attempts: &dyn Attempts, now: Timestamp) -> Result<(), StoreError> {
    for _ in 0..SWEEPS_MAX {
        // Fewer than the maximum may be deleted while more are left: a database skips numbers.
        if attempts.sweep(now - KEEP_FOR, KEEP_MAX).await? < u64::from(ATTEMPTS_SWEEP_MAX) / 10 {
            break;
        }
    }
    Ok(())
}
