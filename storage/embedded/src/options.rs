//! Options for opening a data directory.

use std::path::PathBuf;
use std::sync::Arc;

use mallbox_storage::Durability;

use crate::DiskFaults;

/// Options for opening a data directory.
#[derive(Clone, Debug)]
pub struct EmbeddedOptions {
    /// The data directory; created if missing.
    pub dir: PathBuf,
    /// Durability of a call that has returned.
    pub durability: Durability,
    /// Starts although this number of accepted claims is lost from the order log. Must equal
    /// [`LogLoss::number`](mallbox_storage::LogLoss::number) from the error of a start without the option;
    /// other numbers are refused.
    pub accept_lost_log: Option<u64>,
    /// Starts although this number of commits or pages of the database is lost. Must equal `accept` of the
    /// [`OpenError::DamagedRecord`](mallbox_storage::OpenError::DamagedRecord) of a start without the option;
    /// other numbers are refused.
    pub accept_damaged_database: Option<u64>,
    /// Upgrades a mall of an earlier version without keeping a copy of it: a failed upgrade cannot be undone.
    pub upgrade_without_copy: bool,
    /// Fault injection for the disk. `None`: only real faults occur.
    pub disk_faults: Option<Arc<DiskFaults>>,
}

impl EmbeddedOptions {
    /// Returns default options: durable against power cuts; refuses a damaged log or database.
    #[must_use]
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self {
            dir: dir.into(),
            durability: Durability::Power,
            accept_lost_log: None,
            accept_damaged_database: None,
            upgrade_without_copy: false,
            disk_faults: None,
        }
    }
}
