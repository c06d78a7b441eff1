//! State shared by the journal's thread and its callers.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, mpsc};

use mallbox_storage::{Claim, StoreError, VoucherId};
use parking_lot::{Condvar, Mutex, RwLock};

use super::commit::Commit;
use super::store::Change;
use crate::disk::Disk;
use crate::disk_faults::Watcher;

/// Group of the claims found in the log at start.
pub(crate) const RECOVERED_GROUP: u64 = 0;

/// Why writes are refused at present.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum WriteBlock {
    /// Too little free space on the disk.
    Full(String),
    /// A write or a sync failed.
    Failed(String),
    /// The mall is stopping.
    Closed,
}

impl WriteBlock {
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Full(detail) => format!("disk full: {detail}"),
            Self::Failed(detail) => format!("cannot write the order log: {detail}"),
            Self::Closed => "the mall is stopping".to_owned(),
        }
    }

    pub(super) fn error(&self, op: &'static str) -> StoreError {
        match self {
            Self::Full(detail) => StoreError::Full { op, detail: detail.clone() },
            Self::Failed(_) | Self::Closed => StoreError::Unavailable { op, source: self.text().into() },
        }
    }
}

/// Claims and changes collected for the next group commit.
#[derive(Debug)]
pub(super) struct OpenGroup {
    /// Group number, from 1 on without gaps. A failed group keeps its number when its claims are written
    /// again.
    pub(super) group: u64,
    pub(super) commit: Arc<Commit>,
    /// The preceding group commit: being written, or finished.
    pub(super) previous: Arc<Commit>,
    pub(super) claims: Vec<Claim>,
    pub(super) changes: Vec<Change>,
    /// Number of waiters.
    pub(super) waiting: usize,
    /// Number of waiters at which to wake the journal's sleeping thread.
    pub(super) wake_at: Option<usize>,
    /// Pending requests for a check of the disk. The senders are dropped after the check.
    pub(super) maintenance: Vec<mpsc::Sender<()>>,
    pub(super) closing: bool,
}

impl OpenGroup {
    pub(super) fn new(group: u64, previous: Arc<Commit>) -> Self {
        Self {
            group,
            commit: Commit::new(),
            previous,
            claims: Vec::new(),
            changes: Vec::new(),
            waiting: 0,
            wake_at: None,
            maintenance: Vec::new(),
            closing: false,
        }
    }
}

/// State shared by the journal's thread and its callers.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) gathering: Mutex<OpenGroup>,
    pub(super) gathered: Condvar,
    pub(super) trouble: RwLock<Option<WriteBlock>>,
    /// Why claims alone are refused at present: less space than the mall needs to go on selling.
    pub(super) sale_shortage: RwLock<Option<String>>,
    /// The last durable commit.
    pub(super) last_commit: AtomicU64,
    /// Every claim of every group commit up to this number is durable.
    pub(super) durable_group: AtomicU64,
    /// Claims in doubt: group and sale of each claim whose group commit failed and is not yet written
    /// again.
    pub(super) in_doubt: Mutex<Vec<(u64, VoucherId)>>,
    pub(super) disk: Disk,
}

impl Shared {
    /// Looks whether the disk has room for claims, and logs a change.
    pub(super) fn note_sale_shortage(&self) {
        let found = self.disk.sale_shortage();
        let before = std::mem::replace(&mut *self.sale_shortage.write(), found.clone());
        match (before, found) {
            (None, Some(detail)) => {
                tracing::warn!(detail, "the disk is nearly full; nothing is sold until there is room")
            }
            (Some(_), None) => tracing::info!("the disk has room again; claims are accepted"),
            _ => {}
        }
    }
}

impl Watcher for Shared {
    fn check(&self) -> mpsc::Receiver<()> {
        let (maintained, is_maintained) = mpsc::channel();
        let mut gathering = self.gathering.lock();
        if !gathering.closing {
            gathering.maintenance.push(maintained);
            gathering.wake_at = None;
            self.gathered.notify_one();
        }
        is_maintained
    }
}

/// Keeps a new journal from writing until an obstacle is gone.
pub(crate) struct StartHold {
    pub(crate) trouble: WriteBlock,
    /// Preparation for the first write, repeated until it succeeds.
    pub(crate) before_writing: Box<dyn Fn() -> Result<(), StoreError> + Send>,
}
