//! Which partitions of the log have claims for this process' workers, as far as this process knows by itself.

use std::sync::atomic::{AtomicU32, Ordering};

use tokio::sync::Notify;

use crate::PARTITIONS;

/// Every partition.
pub(super) const ALL: u32 = (1 << PARTITIONS) - 1;

/// A set of partitions, and somebody to wake when one comes in.
#[derive(Debug, Default)]
pub(super) struct WakeUps {
    filled: AtomicU32,
    notify: Notify,
}

impl WakeUps {
    /// A claim has come into this partition.
    pub(super) fn fill(&self, partition: u64) {
        let bit = 1 << partition;
        if self.filled.fetch_or(bit, Ordering::AcqRel) & bit == 0 {
            self.notify.notify_one();
        }
    }

    /// The partitions that came in since the last call.
    pub(super) fn drain(&self) -> u32 {
        self.filled.swap(0, Ordering::AcqRel)
    }

    /// Returns when one may have come in.
    pub(super) async fn filled(&self) {
        self.notify.notified().await;
    }
}
