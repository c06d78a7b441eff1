//! Files after a crash.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, ensure};
use tempfile::TempDir;

/// Fails if `blobs` contains anything: sled never syncs files written there.
pub fn check_blobs(data: &Path) -> anyhow::Result<()> {
    let log = data.join("log");
    for store in fs::read_dir(&log).with_context(|| format!("{} cannot be read", log.display()))? {
        let blobs = store?.path().join("blobs");
        if !blobs.is_dir() {
            continue;
        }
        let count = fs::read_dir(&blobs)?.count();
        ensure!(count == 0, "{count} blobs in {}: a value of the log is too large", blobs.display());
    }
    Ok(())
}

/// Copies a directory without writers.
pub fn copy(data: &Path, scratch: &Path) -> anyhow::Result<TempDir> {
    let to = tempfile::Builder::new().prefix("copy-").tempdir_in(scratch)?;
    copy_into(data, to.path())?;
    Ok(to)
}

fn copy_into(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (kind, target) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            copy_into(&entry.path(), &target)?;
        } else if kind.is_file() {
            // A socket left by the crash is not data and is skipped.
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
