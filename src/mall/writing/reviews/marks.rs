//! Removal of faded marks of votes, in the background.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::Timestamp;

use crate::mall::base::Context;
use crate::mall::base::chores::{Chore, Every};

/// Removes the marks that voters no longer see.
struct PruneMarks {
    every: Every,
    context: Context,
}

impl PruneMarks {
    /// Marks removed per transaction: few enough that no other writer notices the delay.
    const AT_ONCE: u32 = 500;
    /// Transactions per run. At this rate, twelve million marks fade in a day.
    const ROUNDS: usize = 1_000;
}

/// Returns the job that removes faded marks, hourly.
pub(in crate::mall) fn pruner(context: &Context) -> Arc<dyn Chore> {
    Arc::new(PruneMarks { every: Every::new(Duration::from_secs(3_600)), context: context.clone() })
}

#[async_trait]
impl Chore for PruneMarks {
    fn name(&self) -> &'static str {
        "prune marks of votes"
    }

    async fn next_due(&self, now: Timestamp) -> Option<Timestamp> {
        Some(self.every.next(now))
    }

    async fn run(&self, now: Timestamp) {
        self.every.ran(now);
        for _ in 0..Self::ROUNDS {
            match self.context.storage.writing.votes.prune_marks(now, Self::AT_ONCE).await {
                Ok(pruned) if pruned == u64::from(Self::AT_ONCE) => {}
                Ok(_) => return,
                Err(error) => {
                    tracing::warn!(%error, "could not remove faded marks of votes");
                    return;
                }
            }
        }
    }
}
