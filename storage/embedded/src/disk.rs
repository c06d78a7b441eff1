//! The disk under a data directory: free space and injected faults.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use mallbox_storage::StoreError;

use super::disk_faults::{DiskFaults, Watcher};

/// Below this much free space nothing is written to the order log, neither claims nor log-ins: sled must
/// never hit the end of the disk.
pub(crate) const FREE_BYTES_MIN: u64 = 64 << 20;
/// Below this much free space nothing is sold and no picture is stored: what was sold before can still be
/// paid, redeemed and refunded, by people who still have to log in.
pub(crate) const SALE_FREE_BYTES_MIN: u64 = 96 << 20;
/// Below this much free space the operators are warned.
const AMPLE_FREE_BYTES: u64 = 256 << 20;

/// Returns the bytes that the process may still write at `path`; `None` if the system does not report free
/// space.
pub(crate) fn free_bytes_at(path: &Path) -> Option<u64> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    let space = rustix::fs::statvfs(path).ok()?;
    Some(space.f_bavail.saturating_mul(space.f_frsize))
}

/// A directory's disk. Without fault injection only its free space is ever queried.
#[derive(Clone, Debug)]
pub(crate) struct Disk {
    dir: PathBuf,
    faults: Option<Arc<DiskFaults>>,
}

impl Disk {
    pub(crate) fn new(dir: &Path, faults: Option<Arc<DiskFaults>>) -> Self {
        let dir = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
        Self { dir: dir.to_owned(), faults }
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns the bytes that the process may still write in the directory: 0 while a full disk is
    /// simulated, `None` if the system does not report free space.
    pub(crate) fn free_bytes(&self) -> Option<u64> {
        if self.is_simulated_full() {
            return Some(0);
        }
        // A directory that does not exist yet will be on the disk of its nearest existing ancestor.
        self.dir.ancestors().find_map(free_bytes_at)
    }

    /// Returns a message if less than [`FREE_BYTES_MIN`] of space is free, else `None`.
    pub(crate) fn shortage(&self) -> Option<String> {
        self.missing(FREE_BYTES_MIN)
    }

    /// Returns a message if less than [`SALE_FREE_BYTES_MIN`] of space is free, else `None`.
    pub(crate) fn sale_shortage(&self) -> Option<String> {
        self.missing(SALE_FREE_BYTES_MIN)
    }

    /// Refuses `op` below [`FREE_BYTES_MIN`] of free space.
    pub(crate) fn check_room(&self, op: &'static str) -> Result<(), StoreError> {
        self.refuse(op, self.shortage())
    }

    /// Refuses `op`, which sells something or stores a picture, below [`SALE_FREE_BYTES_MIN`] of free space.
    pub(crate) fn check_sale_room(&self, op: &'static str) -> Result<(), StoreError> {
        self.refuse(op, self.sale_shortage())
    }

    /// Refuses `op` if there is a shortage, and counts the refusal.
    pub(crate) fn refuse(&self, op: &'static str, shortage: Option<String>) -> Result<(), StoreError> {
        shortage.map_or(Ok(()), |detail| {
            self.refused(1);
            Err(StoreError::Full { op, detail })
        })
    }

    /// Returns a warning for the operators while everything is accepted, but space is getting short.
    pub(crate) fn warning(&self) -> Option<String> {
        let free = self.free_bytes()?;
        (SALE_FREE_BYTES_MIN..AMPLE_FREE_BYTES).contains(&free).then(|| {
            format!(
                "{} MiB free at {}: below {} MiB nothing is sold, and below {} MiB nobody logs in; make room",
                free >> 20,
                self.dir.display(),
                SALE_FREE_BYTES_MIN >> 20,
                FREE_BYTES_MIN >> 20
            )
        })
    }

    fn missing(&self, needed: u64) -> Option<String> {
        let free = self.free_bytes()?;
        (free < needed).then(|| {
            format!("{} MiB free at {}, and {} MiB are needed", free >> 20, self.dir.display(), needed >> 20)
        })
    }

    /// Returns the free space as text.
    pub(crate) fn room(&self) -> String {
        let dir = self.dir.display();
        match self.free_bytes() {
            Some(free) => format!("{} KiB left in {dir}", free >> 10),
            None => format!("no space left in {dir}"),
        }
    }

    pub(crate) fn is_simulated_full(&self) -> bool {
        self.faults.as_ref().is_some_and(|faults| faults.is_full())
    }

    /// Counts `calls` refused calls if a full disk is simulated.
    pub(crate) fn refused(&self, calls: usize) {
        if let Some(faults) = &self.faults {
            faults.refused(calls);
        }
    }

    /// Blocks for the delay of a simulated slow disk.
    pub(crate) fn delay_commit(&self) {
        if let Some(faults) = &self.faults {
            faults.delay();
        }
    }

    /// Fails if sync failures are injected.
    pub(crate) fn before_sync(&self) -> io::Result<()> {
        self.faults.as_ref().map_or(Ok(()), |faults| faults.before_sync())
    }

    /// Registers a watcher, to be run whenever a fault begins or ends. Only a weak reference is kept.
    pub(crate) fn subscribe<W: Watcher + 'static>(&self, watcher: &Arc<W>) {
        if let Some(faults) = &self.faults {
            let watcher: Weak<W> = Arc::downgrade(watcher);
            faults.register(watcher);
        }
    }
}
