//! Options for opening a data directory.

use std::path::PathBuf;
use std::sync::Arc;

use mallbox_storage::Durability;

use crate::DiskFaults;
use crate::cache_sizes::CacheSizes;

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
    /// Upper bound of all caches together, in bytes: of the database, of the order log and of values of the
    /// mall. From [`CACHE_BYTES`](Self::CACHE_BYTES) on no cache grows any more.
    pub cache_bytes: u64,
    /// Fault injection for the disk. `None`: only real faults occur.
    pub disk_faults: Option<Arc<DiskFaults>>,
}

impl EmbeddedOptions {
    /// The usual upper bound of all caches together: 208 MiB.
    pub const CACHE_BYTES: u64 = CacheSizes::FULL.total();

    /// Returns default options: durable against power cuts; refuses a damaged log or database.
    #[must_use]
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self {
            dir: dir.into(),
            durability: Durability::Power,
            accept_lost_log: None,
            accept_damaged_database: None,
            upgrade_without_copy: false,
            cache_bytes: Self::CACHE_BYTES,
            disk_faults: None,
        }
    }
}
