//! Checkpoints: about once a second, a thread of its own writes durable commits to the sled store.
//!
//! The write-ahead log contains everything that a checkpoint writes: no claim waits for the store, and a
//! store that fails is replaced in the background. A complete checkpoint is noted in the database; then the
//! write-ahead log may reuse segments. A claim that is settled before a checkpoint reaches it never enters
//! the store.
//!
//! Reasons and figures: `storage/decisions/0036-order-log-on-a-write-ahead-log.md`.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use mallbox_storage::{Claim, StoreError};

use super::backlog::{Backlog, Changes};
use super::kept_store::{Batch, KeptStore};
use super::store::StoreFault;
use crate::disk::Disk;
use crate::settled::Settled;

/// Interval of checkpoints.
const INTERVAL: Duration = Duration::from_secs(1);
/// Failed checkpoints from one message to the next, at one a second.
const FAILURES_PER_MESSAGE: u64 = 60;

/// Notes in the database that the store is complete up to the first number, and that every claim up to the
/// second one is settled. Durable when it returns.
pub(crate) type Note = Box<dyn Fn(u64, u64) -> Result<(), StoreError> + Send>;

/// Why a checkpoint is not complete.
#[derive(Debug, thiserror::Error)]
enum CheckpointFault {
    #[error(transparent)]
    Store(#[from] StoreFault),
    #[error(transparent)]
    Note(#[from] StoreError),
}

/// State of the checkpoint thread.
pub(super) struct Checkpoints {
    pub(super) backlog: Arc<Backlog>,
    pub(super) settled: Arc<Settled>,
    pub(super) disk: Disk,
    pub(super) note: Note,
    pub(super) store: KeptStore,
    /// Changes since the last successful checkpoint.
    pub(super) changes: Changes,
    /// Commits that are not completely settled, ascending.
    pub(super) unsettled: VecDeque<(u64, Vec<Claim>)>,
    /// The last noted checkpoint, and its mark.
    pub(super) noted: Option<(u64, u64)>,
    pub(super) failures: u64,
}

impl Checkpoints {
    /// Writes checkpoints until the backlog is closed, and then the last one.
    pub(super) fn run(mut self) {
        loop {
            let gathered = self.backlog.take(INTERVAL);
            let is_idle = gathered.commits.is_empty() && gathered.changes.is_empty();
            self.changes.extend(gathered.changes);
            self.unsettled.extend(gathered.commits);
            match self.write(gathered.last, is_idle) {
                Ok(()) => self.succeeded(),
                Err(fault) => self.failed(&fault),
            }
            if gathered.is_closing {
                return;
            }
        }
    }

    /// Writes a checkpoint up to a commit, if there is anything new.
    fn write(&mut self, position: u64, is_idle: bool) -> Result<(), CheckpointFault> {
        let settled = self.settled.mark_with(&[]);
        if self.noted == Some((position, settled)) && self.changes.is_empty() {
            return Ok(());
        }
        if self.disk.shortage().is_some() {
            // Claims are refused, and each attempt would cost space.
            return Ok(());
        }
        while self.unsettled.pop_front_if(|(number, _)| *number <= settled).is_some() {}
        self.disk.before_sync().map_err(StoreFault::from)?;
        let batch = Batch { position, settled, commits: &self.unsettled, changes: &self.changes };
        self.store.write(&batch)?;
        self.changes.clear();
        (self.note)(position, settled)?;
        self.noted = Some((position, settled));
        self.backlog.release(position.min(settled));
        let batch = Batch { position, settled, commits: &self.unsettled, changes: &self.changes };
        Ok(self.store.compact_if_large(is_idle, &batch)?)
    }

    fn succeeded(&mut self) {
        if self.failures > 0 {
            tracing::info!("writing the order log's store again");
            self.failures = 0;
        }
    }

    /// Reports the failure. Nothing is lost: the write-ahead log keeps its segments until a later success.
    fn failed(&mut self, fault: &CheckpointFault) {
        if self.failures.is_multiple_of(FAILURES_PER_MESSAGE) {
            tracing::error!(
                %fault,
                "could not write the order log's store; claims and logins go on, and the write-ahead log grows"
            );
        }
        self.failures += 1;
    }
}
