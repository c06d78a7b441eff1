//! The ready set: partitions of the log that have claims for this process's workers, as far as this process
//! knows.

use std::sync::atomic::{AtomicU32, Ordering};

use mallbox_storage::PARTITIONS;
use tokio::sync::Notify;

/// Bit set of all partitions.
pub(super) const ALL: u32 = (1 << PARTITIONS) - 1;

/// A set of partitions, with a wake-up when a partition is added.
#[derive(Debug, Default)]
pub(super) struct ReadySet {
    filled: AtomicU32,
    notify: Notify,
}

impl ReadySet {
    /// Marks a partition as having a claim, and wakes a worker if the partition is new in the set.
    pub(super) fn fill(&self, partition: u64) {
        let bit = 1 << partition;
        if self.filled.fetch_or(bit, Ordering::AcqRel) & bit == 0 {
            self.notify.notify_one();
        }
    }

    /// Returns the partitions marked since the last call as a bit set, and clears the set.
    pub(super) fn drain(&self) -> u32 {
        self.filled.swap(0, Ordering::AcqRel)
    }

    /// Waits until a partition may have been marked.
    pub(super) async fn filled(&self) {
        self.notify.notified().await;
    }
}
