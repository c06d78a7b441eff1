//! How to open a data directory.

use std::path::PathBuf;
use std::sync::Arc;

use mallbox_storage::Durability;

use crate::DiskFaults;

/// How to open a data directory.
#[derive(Clone, Debug)]
pub struct EmbeddedOptions {
    /// The directory; made if it is not there.
    pub dir: PathBuf,
    /// How far an answer can be trusted.
    pub durability: Durability,
    /// Start even though this number of accepted claims is lost from the order log: [`LogLoss::number`](crate::LogLoss::number)
    /// of the error that a start without it gives. Any other number is refused.
    pub accept_lost_log: Option<u64>,
    /// The troubles that are played on its disk. `None`: there are only real ones.
    pub disk_faults: Option<Arc<DiskFaults>>,
}

impl EmbeddedOptions {
    /// Durable against power cuts; refuses a damaged log.
    #[must_use]
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into(), durability: Durability::Power, accept_lost_log: None, disk_faults: None }
    }
}
