//! Where a server keeps its data, and its share of the processor.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;

/// Directory of Linux's in-memory file system.
const MEMORY: &str = "/dev/shm";
/// Space needed in memory by a server with the databases of many tests, in bytes.
const MEMORY_BYTES_MIN: u64 = 1 << 30;

/// Where a server keeps its data, and its share of the processor.
#[derive(Clone, Debug)]
pub struct Host {
    /// Directory in which servers make their own; `None` = the system's directory for temporary files.
    parent: Option<PathBuf>,
    /// Whether servers get a higher priority than other processes, if run as root.
    has_priority: bool,
}

impl Default for Host {
    /// Stands for another machine: temporary files, and more of the processor than its clients, whose
    /// timeouts assume another machine.
    fn default() -> Self {
        Self { parent: None, has_priority: true }
    }
}

impl Host {
    /// Shares the machine with its clients: files below `parent`, and no priority.
    #[must_use]
    pub fn beside_clients(parent: &Path) -> Self {
        Self { parent: Some(parent.to_owned()), has_priority: false }
    }

    /// Keeps data in memory if space permits. MariaDB syncs each table it creates, regardless of settings:
    /// creating a mall's database takes 0.02 s in memory, and 0.25 s on a disk.
    pub(crate) fn in_memory() -> Self {
        let free =
            rustix::fs::statvfs(MEMORY).map_or(0, |found| found.f_bavail.saturating_mul(found.f_frsize));
        let parent = (free >= MEMORY_BYTES_MIN).then(|| PathBuf::from(MEMORY));
        Self { parent, ..Self::default() }
    }

    /// Creates a directory for a server.
    pub(crate) fn dir(&self) -> io::Result<TempDir> {
        self.parent
            .as_ref()
            .map_or_else(TempDir::new, |parent| TempDir::with_prefix_in(".mallbox-server-", parent))
    }

    /// Returns the silence after which servers count each other as down: more for servers that share a busy
    /// machine with their clients.
    pub(crate) fn silence_max(&self, quick: Duration) -> Duration {
        const SHARED: Duration = Duration::from_secs(30);
        if self.has_priority { quick } else { SHARED }
    }

    pub(crate) fn has_priority(&self) -> bool {
        self.has_priority
    }
}
