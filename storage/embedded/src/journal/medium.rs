//! The directory of the write-ahead log: how it is written, and the faults injected into its disk.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use mallbox_storage::Durability;
use mallbox_storage_wal::{Directory, Medium, Options, RealSegment, SegmentFile, WriteMode};

use super::store::sync_all;
use crate::disk::Disk;

/// Segments of 4 MiB: creating one takes some milliseconds, in which no claim is written.
const SEGMENT_BYTES: u64 = 4 << 20;
/// Without syncs nothing is gained by large segments, and a mall of a test should be small.
const UNSYNCED_SEGMENT_BYTES: u64 = 1 << 20;
/// Unused segments kept for the next rush.
const SPARE_SEGMENTS: usize = 16;

/// The directory of the write-ahead log on a disk with injected faults.
#[derive(Clone, Debug)]
pub(super) struct LogMedium {
    directory: Directory,
    path: PathBuf,
    disk: Disk,
    durability: Durability,
}

impl LogMedium {
    /// Uses the directory at `path`, whether or not it exists yet.
    ///
    /// Writes directly where that is durable and the file system takes it. [`LogMedium::prepare`] finds out.
    pub(super) fn new(path: PathBuf, disk: Disk, durability: Durability) -> Self {
        let mode = match durability {
            Durability::Power | Durability::Relaxed => WriteMode::Buffered,
            Durability::Process | Durability::Memory => WriteMode::Unsynced,
        };
        Self { directory: Directory::new(&path, mode), path, disk, durability }
    }

    /// Creates the directory if it is missing, and chooses how to write. Writes a file that it removes again.
    ///
    /// The names of the directory and of its parent, the order log's, are durable afterwards: with them all
    /// segments would be lost.
    pub(super) fn prepare(&mut self) -> io::Result<()> {
        fs::create_dir_all(&self.path)?;
        if matches!(self.durability, Durability::Power | Durability::Relaxed) {
            self.path.ancestors().skip(1).take(2).try_for_each(sync_all)?;
        }
        if self.durability == Durability::Power {
            let mode = write_mode(&self.path)?;
            self.directory = Directory::new(&self.path, mode);
        }
        Ok(())
    }

    pub(super) fn options(&self) -> Options {
        let is_synced = matches!(self.durability, Durability::Power | Durability::Relaxed);
        let segment_bytes = if is_synced { SEGMENT_BYTES } else { UNSYNCED_SEGMENT_BYTES };
        Options { segment_bytes, spare_segments: SPARE_SEGMENTS }
    }
}

/// Returns how a log that survives power cuts is written in a directory.
pub(crate) fn write_mode(path: &Path) -> io::Result<WriteMode> {
    let is_direct = Directory::takes_direct_writes(path)?;
    Ok(if is_direct { WriteMode::Direct } else { WriteMode::Buffered })
}

impl Medium for LogMedium {
    type Segment = LogSegment;

    fn list(&self) -> io::Result<Vec<String>> {
        match self.directory.list() {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
            listed => listed,
        }
    }

    fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        self.directory.read(name)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.has_room()?;
        self.directory.write(name, bytes)
    }

    fn create_segment(&self, name: &str, bytes: u64) -> io::Result<()> {
        self.has_room()?;
        self.directory.create_segment(name, bytes)
    }

    fn open_segment(&self, name: &str) -> io::Result<LogSegment> {
        let segment = self.directory.open_segment(name)?;
        // A mall without syncs has none that could fail.
        let disk = (self.durability > Durability::Memory).then(|| self.disk.clone());
        Ok(LogSegment { segment, disk })
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.directory.rename(from, to)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.directory.remove(name)
    }

    fn sync_dir(&self) -> io::Result<()> {
        self.directory.sync_dir()
    }
}

impl LogMedium {
    fn has_room(&self) -> io::Result<()> {
        if self.disk.is_simulated_full() {
            return Err(io::Error::from(ErrorKind::StorageFull));
        }
        Ok(())
    }
}

/// A segment on a disk with injected faults.
#[derive(Debug)]
pub(super) struct LogSegment {
    segment: RealSegment,
    /// The disk whose syncs may fail.
    disk: Option<Disk>,
}

impl SegmentFile for LogSegment {
    fn write_at(&mut self, offset: u64, blocks: &[u8]) -> io::Result<()> {
        self.segment.write_at(offset, blocks)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.disk.as_ref().map_or(Ok(()), Disk::before_sync)?;
        self.segment.sync()
    }
}
