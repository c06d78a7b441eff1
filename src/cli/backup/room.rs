//! Private directories that a backup works in.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use tempfile::TempDir;

use crate::cli::messages::CommandFailure;

/// A private directory that a backup works in, removed when the value is dropped.
pub(super) struct Room {
    dir: TempDir,
    /// Locked while the backup is at work: what is not locked was left by a killed one.
    _lock: File,
}

impl Room {
    /// Beginning of the names.
    const PREFIX: &str = ".mallbox-backup-";

    /// Makes a directory in `parent`, and removes what killed backups have left there.
    pub(super) fn make(parent: &Path) -> anyhow::Result<Self> {
        let made = (|| {
            Self::remove_leftovers(parent)?;
            let dir = tempfile::Builder::new().prefix(Self::PREFIX).tempdir_in(parent)?;
            let lock = File::open(dir.path())?;
            lock.lock()?;
            Ok(Self { dir, _lock: lock })
        })();
        made.map_err(|error: io::Error| CommandFailure::CannotWrite(parent.to_owned()).with_cause(error))
    }

    pub(super) fn path(&self) -> &Path {
        self.dir.path()
    }

    fn remove_leftovers(parent: &Path) -> io::Result<()> {
        for entry in fs::read_dir(parent)? {
            let entry = entry?;
            if !entry.file_name().to_string_lossy().starts_with(Self::PREFIX) {
                continue;
            }
            // One that has just been made is empty, and is locked in a moment.
            let is_used = fs::read_dir(entry.path()).is_ok_and(|mut files| files.next().is_some());
            if is_used && File::open(entry.path()).is_ok_and(|dir| dir.try_lock().is_ok()) {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
        Ok(())
    }
}
