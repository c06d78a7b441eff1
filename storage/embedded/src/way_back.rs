//! The way back: makes a directory readable by the version before, whose order log was sled alone and whose
//! orders were indexed by user.
//!
//! Each step can be repeated, and a crash between two leaves a directory that this version opens, or the one
//! before: the store of the version before is written beside the write-ahead log; the write-ahead log is put
//! aside; one transaction changes the schema; what was put aside is removed.

use std::fs;
use std::path::{Path, PathBuf};

use mallbox_storage::{Durability, OpenError};

use crate::disk::Disk;
use crate::evidence::{unusable, witness};
use crate::journal::contents::LogEvidence;
use crate::journal::{StoreOptions, WAL, former, recovery, sync_all};
use crate::lock::DirLock;
use crate::random::random_id;
use crate::sqlite::{Database, forget_integrity};

/// Makes the directory of a stopped mall readable by the version before. Pending claims and sessions stay.
///
/// This version takes the directory over again at its next start.
///
/// # Errors
/// As for opening the directory; [`OpenError::Io`] also if there is too little free space.
pub async fn downgrade(dir: &Path) -> Result<(), OpenError> {
    let (dir, path) = (dir.to_owned(), dir.join("mall.sqlite"));
    let rewritten = tokio::task::spawn_blocking(move || rewrite(&dir)).await;
    let (database, _lock) = rewritten.unwrap_or_else(|error| {
        Err(OpenError::Io { path: path.clone(), what: "the rewriting was cancelled", source: error.into() })
    })?;
    database.close(true).await.map_err(|error| unusable(&path, error))?;
    drop(database);
    // The version before would not keep them.
    forget_integrity(&path).map_err(|source| OpenError::Io {
        path: path.clone(),
        what: "cannot remove the checksums of the database",
        source,
    })
}

fn rewrite(dir: &Path) -> Result<(Database, DirLock), OpenError> {
    let lock = DirLock::take(dir)?;
    let (log_dir, path) = (dir.join("log"), dir.join("mall.sqlite"));
    let broken = |error| unusable(&path, error);
    let database = Database::open(&path, Durability::Power, None)?;
    let witness = witness(&database).map_err(broken)?;
    make_good(&log_dir, &witness)?;
    let disk = Disk::new(&log_dir, None);
    let recovered =
        recovery::recover(&disk, &witness, StoreOptions::usual(Durability::Power), None, random_id())?;
    former::write(&log_dir, recovered, &witness)?;
    let (wal, aside) = (log_dir.join(WAL), aside(&log_dir));
    let refused = |source| OpenError::Io {
        path: log_dir.clone(),
        what: "cannot put the write-ahead log aside",
        source,
    };
    fs::rename(&wal, &aside).and_then(|()| sync_all(&log_dir)).map_err(refused)?;
    database.to_former_schema().map_err(broken)?;
    fs::remove_dir_all(&aside).map_err(refused)?;
    Ok((database, lock))
}

/// Completes or undoes a way back that was cut short.
///
/// # Errors
/// [`OpenError::Io`] if the system refuses an operation.
pub(crate) fn make_good(log_dir: &Path, witness: &LogEvidence) -> Result<(), OpenError> {
    let aside = aside(log_dir);
    let good = match aside.try_exists() {
        Ok(false) => return Ok(()),
        // The schema was not changed yet.
        Ok(true) if witness.checkpoint.is_some() => {
            fs::rename(&aside, log_dir.join(WAL)).and_then(|()| sync_all(log_dir))
        }
        Ok(true) => fs::remove_dir_all(&aside),
        Err(error) => Err(error),
    };
    good.map_err(|source| OpenError::Io { path: aside, what: "cannot be moved or removed", source })
}

/// The write-ahead log between two steps.
fn aside(log_dir: &Path) -> PathBuf {
    log_dir.join("wal.former")
}
