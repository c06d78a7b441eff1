//! The medium of a log: a directory with files, as calls that can fail.
//!
//! The log uses nothing else of the system, so that it runs on a simulated disk as well.

use std::io;

/// The directory of a log.
///
/// Names are plain file names. A created, renamed or removed entry is durable after
/// [`sync_dir`](Medium::sync_dir), written contents after the sync of the file.
pub trait Medium {
    /// A segment file, open for writing.
    type Segment: SegmentFile;

    /// Returns the names of all files, in any order.
    fn list(&self) -> io::Result<Vec<String>>;

    /// Reads a whole file.
    fn read(&self, name: &str) -> io::Result<Vec<u8>>;

    /// Creates or truncates a file, writes `bytes`, and syncs the file.
    fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()>;

    /// Creates a segment of `bytes` zeros whose blocks are allocated, and syncs the file. An existing file of
    /// this name is replaced.
    ///
    /// A failure may leave a file of any length.
    fn create_segment(&self, name: &str, bytes: u64) -> io::Result<()>;

    /// Opens an existing segment for writing.
    fn open_segment(&self, name: &str) -> io::Result<Self::Segment>;

    /// Renames a file and replaces an existing one, atomically.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Removes a file.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Makes created, renamed and removed entries durable.
    fn sync_dir(&self) -> io::Result<()>;
}

/// A segment file, open for writing.
pub trait SegmentFile {
    /// Writes whole blocks at an offset inside the file; both are multiples of
    /// [`BLOCK_BYTES`](crate::BLOCK_BYTES), and the memory of `blocks` is aligned to it.
    ///
    /// A failed write may have written any part.
    fn write_at(&mut self, offset: u64, blocks: &[u8]) -> io::Result<()>;

    /// Makes all writes durable. After a failure no earlier write counts as durable, and a later success says
    /// nothing of them.
    fn sync(&mut self) -> io::Result<()>;
}
