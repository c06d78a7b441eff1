//! The files of a sled store, handled without sled: repairs before opening, and copies.
//!
//! sled 0.34.7 takes the name of an unfinished snapshot for the newest snapshot. A failed read counts as the
//! end of the log, and sled overwrites the log from that position. This module handles both cases before sled
//! opens a store.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::disk::{FREE_BYTES_MIN, free_bytes_at};

/// Prefix of sled's snapshot names, and suffix of unfinished snapshots.
const SNAPSHOT: &str = "snap.";
const UNFINISHED: &str = ".generating";
/// Bytes read and copied at once.
const BLOCK: usize = 64 << 10;
/// Room for the writes of sled on opening a copy: a snapshot, and the rest of its last segment.
const COPY_SPARE_BYTES: u64 = 4 << 20;
/// A file system in memory, on Linux.
const MEMORY: &str = "/dev/shm";

/// Whether a copy includes the store's snapshots. Without snapshots sled reads its whole log instead.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Snapshots {
    Keep,
    Drop,
}

/// Removes snapshots left unfinished by a full disk or a power cut. A snapshot is valid only after the
/// rename: the removal loses nothing.
pub(super) fn remove_unfinished_snapshots(store: &Path) -> io::Result<()> {
    for entry in fs::read_dir(store)? {
        let entry = entry?;
        if is_unfinished(&entry.file_name().to_string_lossy()) {
            tracing::info!(path = %entry.path().display(), "removing an unfinished snapshot");
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Reads every byte of a store: read errors of the disk surface before sled opens the store.
pub(super) fn read_through(store: &Path) -> io::Result<()> {
    let mut block = vec![0; BLOCK];
    for path in files(store)? {
        let mut file = File::open(path)?;
        while file.read(&mut block)? > 0 {}
    }
    Ok(())
}

/// Copies a store to the new directory `to`, without unfinished snapshots. Blocks of zeros become holes.
pub(super) fn copy(store: &Path, to: &Path, snapshots: Snapshots) -> io::Result<()> {
    for path in files(store)? {
        let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        if is_unfinished(&name) || (snapshots == Snapshots::Drop && name.starts_with(SNAPSHOT)) {
            continue;
        }
        let target = to.join(path.strip_prefix(store).map_err(io::Error::other)?);
        if let Some(dir) = target.parent() {
            fs::create_dir_all(dir)?;
        }
        copy_file(&path, &target)?;
    }
    Ok(())
}

/// Makes a temporary directory with room for a copy of `bytes`, preferably in memory. Uses the file system of
/// `dir` only with [`FREE_BYTES_MIN`] to spare.
///
/// # Errors
/// `StorageFull` if no place has enough room.
pub(super) fn directory_elsewhere(dir: &Path, bytes: u64) -> io::Result<TempDir> {
    let home = device(dir);
    let has_room = |place: &PathBuf| {
        let spare = if device(place) == home { FREE_BYTES_MIN } else { COPY_SPARE_BYTES };
        free_bytes_at(place).is_some_and(|free| free >= bytes.saturating_add(spare))
    };
    let places = [PathBuf::from(MEMORY), std::env::temp_dir(), PathBuf::from("/run")];
    let make = |place| tempfile::Builder::new().prefix("mallbox-log-").tempdir_in(place).ok();
    places.into_iter().filter(has_room).find_map(make).ok_or_else(|| {
        let needed =
            format!("no space for a copy of the order log ({} MiB) in memory or in /tmp", (bytes >> 20) + 1);
        io::Error::new(io::ErrorKind::StorageFull, needed)
    })
}

/// Returns the bytes occupied by a store on disk.
pub(super) fn bytes(store: &Path) -> io::Result<u64> {
    use std::os::unix::fs::MetadataExt as _;
    files(store)?.iter().map(|path| Ok(fs::metadata(path)?.blocks() * 512)).sum()
}

/// Lists a store's files, including the files in `blobs`.
fn files(store: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(store)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            files.extend(self::files(&entry.path())?);
        } else if kind.is_file() {
            files.push(entry.path());
        }
    }
    Ok(files)
}

fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    let (mut from, mut to) = (File::open(from)?, File::create(to)?);
    let mut block = vec![0; BLOCK];
    loop {
        let length = from.read(&mut block)?;
        match &block[..length] {
            [] => break,
            zeros if zeros.iter().all(|byte| *byte == 0) => {
                to.seek_relative(i64::try_from(length).unwrap_or(0))?
            }
            bytes => to.write_all(bytes)?,
        }
    }
    let length = to.stream_position()?;
    to.set_len(length)
}

fn is_unfinished(name: &str) -> bool {
    name.starts_with(SNAPSHOT) && name.ends_with(UNFINISHED)
}

fn device(path: &Path) -> Option<u64> {
    use std::os::unix::fs::MetadataExt as _;
    path.ancestors().find_map(|path| fs::metadata(path).ok()).map(|found| found.dev())
}
