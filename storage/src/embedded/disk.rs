//! The disk that a mall is on: its room, and the troubles that are played on it.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use super::disk_faults::{DiskFaults, Watcher};

/// Below this much free space nothing is written any more: sled must never meet the end of the disk.
pub(crate) const LEAST_FREE_BYTES: u64 = 64 << 20;

/// Bytes that this user may still write at a path; `None` if the system does not say.
pub(crate) fn free_bytes_at(path: &Path) -> Option<u64> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    let space = rustix::fs::statvfs(path).ok()?;
    Some(space.f_bavail.saturating_mul(space.f_frsize))
}

/// A directory's disk. Without faults it is asked nothing but its room.
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

    /// Bytes that this user may still write there: none while a full disk is played; `None` if the system does not say.
    pub(crate) fn free_bytes(&self) -> Option<u64> {
        if self.is_played_full() {
            return Some(0);
        }
        // A directory that is still to be made will be on the disk of the one that it is made in.
        self.dir.ancestors().find_map(free_bytes_at)
    }

    /// What to tell when there is too little room.
    pub(crate) fn shortage(&self) -> Option<String> {
        let free = self.free_bytes()?;
        (free < LEAST_FREE_BYTES).then(|| {
            format!(
                "{} MiB free at {}, and {} MiB are needed",
                free >> 20,
                self.dir.display(),
                LEAST_FREE_BYTES >> 20
            )
        })
    }

    /// How much room there is, in words.
    pub(crate) fn room(&self) -> String {
        let dir = self.dir.display();
        match self.free_bytes() {
            Some(free) => format!("{} KiB left in {dir}", free >> 10),
            None => format!("no room in {dir}"),
        }
    }

    pub(crate) fn is_played_full(&self) -> bool {
        self.faults.as_ref().is_some_and(|faults| faults.is_full())
    }

    /// So many calls were refused: counted if a full disk is played.
    pub(crate) fn refused(&self, calls: usize) {
        if let Some(faults) = &self.faults {
            faults.refused(calls);
        }
    }

    /// Waits for as long as a played slow disk makes a commit take longer.
    pub(crate) fn delay_commit(&self) {
        if let Some(faults) = &self.faults {
            faults.delay();
        }
    }

    /// Fails if syncs are played to fail.
    pub(crate) fn before_sync(&self) -> io::Result<()> {
        self.faults.as_ref().map_or(Ok(()), |faults| faults.before_sync())
    }

    /// Has the watcher look whenever a trouble begins or ends, for as long as it lives.
    pub(crate) fn tell<W: Watcher + 'static>(&self, watcher: &Arc<W>) {
        if let Some(faults) = &self.faults {
            let watcher: Weak<W> = Arc::downgrade(watcher);
            faults.tell(watcher);
        }
    }
}
