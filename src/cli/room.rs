//! Private directories that a backup, a restore or an export works in.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use tempfile::TempDir;
use tokio::signal::unix::{SignalKind, signal};

use crate::cli::messages::CommandFailure;
#[cfg(feature = "production")]
use crate::cli::undo;

/// The directories in use.
static ROOMS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes the directories and ends the process when it is told to stop: a copy of the database must not stay
/// behind. `is_endless`: stopping is the usual end, and no failure.
///
/// # Errors
/// The system refuses a thread or the signals.
pub(super) fn remove_rooms_on_stop(is_endless: bool) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (mut terminate, mut interrupt) = {
        let _entered = runtime.enter();
        (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?)
    };
    let wait = move || {
        let number = runtime.block_on(async {
            tokio::select! {
                _ = terminate.recv() => 15,
                _ = interrupt.recv() => 2,
            }
        });
        for room in ROOMS.lock().iter() {
            let _ = fs::remove_dir_all(room);
        }
        #[cfg(feature = "production")]
        undo::all();
        std::process::exit(if is_endless { 0 } else { 128 + number });
    };
    std::thread::Builder::new().name("stop".to_owned()).spawn(wait).map(drop)
}

/// A private directory that a backup, a restore or an export works in, removed when the value is dropped.
pub(super) struct Room {
    dir: TempDir,
    /// Locked while the command is at work: what is not locked was left by a killed one.
    _lock: File,
}

impl Room {
    /// Beginning of the names.
    const PREFIX: &str = ".mallbox-backup-";

    /// Makes a directory in `parent`, and removes what killed commands have left there.
    pub(super) fn make(parent: &Path) -> anyhow::Result<Self> {
        let made = (|| {
            Self::remove_leftovers(parent)?;
            let dir = tempfile::Builder::new().prefix(Self::PREFIX).tempdir_in(parent)?;
            let lock = File::open(dir.path())?;
            lock.lock()?;
            ROOMS.lock().push(dir.path().to_owned());
            Ok(Self { dir, _lock: lock })
        })();
        made.map_err(|error: io::Error| CommandFailure::CannotWrite(parent.to_owned()).with_cause(error))
    }

    pub(super) fn path(&self) -> &Path {
        self.dir.path()
    }

    fn forget(&self) {
        ROOMS.lock().retain(|room| room != self.path());
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

impl Drop for Room {
    fn drop(&mut self) {
        self.forget();
    }
}
