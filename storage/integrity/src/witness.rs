//! The witness of commits: a small file that notes the last durable commit of a `-wal` file.
//!
//! Written after the sync of a commit, so that nothing is noted that a power cut could still take. The file
//! itself is synced later: what it notes may be older than the `-wal` file, and never newer.
//!
//! Two slots of 512 bytes are written in turns, so that a torn write leaves the other one. A slot, with
//! numbers little-endian: `mallwitn`, version, flags, number of the note, commits of the `-wal` file, frames,
//! 32 bytes of the `-wal` file's header, 8 bytes of checksum of the last frame, number of starts, and marks
//! of the database file at a clean stop; CRC-32C last.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::Path;

use crate::beside;
use crate::bits::{le32, le64};
use crate::wal_frames::HEADER;

/// Ending of the file beside the database.
const ENDING: &str = "-witness";
const MAGIC: &[u8; 8] = b"mallwitn";
const VERSION: u32 = 1;
const SLOT: usize = 512;
const USED: usize = 112;
const SYNCED: u32 = 1;
const CLOSED: u32 = 2;

/// A note of the last commit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Witness {
    /// Whether the commit was synced before it was noted.
    pub is_synced: bool,
    /// Whether the mall was stopped cleanly: then no `-wal` file is left.
    pub is_closed: bool,
    /// Commits in the `-wal` file since its beginning.
    pub commits: u64,
    /// Frames in the `-wal` file, up to the last commit.
    pub frames: u32,
    /// Header of the `-wal` file.
    pub header: [u8; HEADER],
    /// Checksum stored in the last frame.
    pub sum: [u8; 8],
    /// Number of starts of the mall, this one included.
    pub starts: u64,
    /// The database file at a clean stop.
    pub file: FileMark,
}

/// Marks of a file and its directory, to tell a program that changed the file from a disk that did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FileMark {
    /// Number of the file on its file system.
    pub inode: u64,
    /// Time of the last change of the file, in nanoseconds.
    pub changed_ns: i64,
    /// Time of the last change of names in the directory, in nanoseconds.
    pub directory_ns: i64,
}

impl FileMark {
    /// Reads the marks of a file.
    ///
    /// # Errors
    /// The system refuses a call.
    pub fn of(path: &Path) -> io::Result<Self> {
        let file = fs::metadata(path)?;
        let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Ok(Self {
            inode: file.ino(),
            changed_ns: changed_ns(&file),
            directory_ns: changed_ns(&fs::metadata(dir)?),
        })
    }

    /// Returns whether another program's SQLite has changed the file since: that makes and removes a file
    /// beside it. A disk changes no times, and a copy of the directory has another number.
    #[must_use]
    pub fn is_changed_by_sqlite(&self, former: &Self) -> bool {
        self.inode == former.inode
            && self.changed_ns != former.changed_ns
            && self.directory_ns != former.directory_ns
    }
}

fn changed_ns(file: &Metadata) -> i64 {
    file.mtime().wrapping_mul(1_000_000_000).wrapping_add(file.mtime_nsec())
}

impl Witness {
    fn encode(&self, number: u64) -> [u8; SLOT] {
        let mut bytes = [0; SLOT];
        let flags = if self.is_synced { SYNCED } else { 0 } | if self.is_closed { CLOSED } else { 0 };
        let mut at = 0;
        let mut put = |part: &[u8]| {
            bytes[at..at + part.len()].copy_from_slice(part);
            at += part.len();
        };
        put(MAGIC);
        put(&VERSION.to_le_bytes());
        put(&flags.to_le_bytes());
        put(&number.to_le_bytes());
        put(&self.commits.to_le_bytes());
        put(&self.frames.to_le_bytes());
        put(&[0; 4]);
        put(&self.header);
        put(&self.sum);
        put(&self.starts.to_le_bytes());
        put(&self.file.inode.to_le_bytes());
        put(&self.file.changed_ns.to_le_bytes());
        put(&self.file.directory_ns.to_le_bytes());
        let crc = crc32c::crc32c(&bytes[..USED]);
        bytes[USED..USED + 4].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    fn decode(bytes: &[u8]) -> Option<(u64, Self)> {
        let is_valid = bytes.len() == SLOT
            && bytes.starts_with(MAGIC)
            && le32(bytes, 8) == VERSION
            && le32(bytes, USED) == crc32c::crc32c(&bytes[..USED]);
        if !is_valid {
            return None;
        }
        let flags = le32(bytes, 12);
        let witness = Self {
            is_synced: flags & SYNCED > 0,
            is_closed: flags & CLOSED > 0,
            commits: le64(bytes, 24),
            frames: le32(bytes, 32),
            header: bytes[40..72].try_into().ok()?,
            sum: bytes[72..80].try_into().ok()?,
            starts: le64(bytes, 80),
            file: FileMark {
                inode: le64(bytes, 88),
                changed_ns: le64(bytes, 96).cast_signed(),
                directory_ns: le64(bytes, 104).cast_signed(),
            },
        };
        Some((le64(bytes, 16), witness))
    }
}

/// The file of the witness.
#[derive(Debug)]
pub struct WitnessFile {
    file: File,
    number: u64,
}

impl WitnessFile {
    /// Opens or creates the file beside `database`. Returns the last note; `None` if there is no valid one.
    ///
    /// # Errors
    /// The system refuses a call.
    pub fn open(database: &Path) -> io::Result<(Self, Option<Witness>)> {
        let path = beside(database, ENDING);
        let file = File::options().read(true).write(true).create(true).truncate(false).open(path)?;
        let mut bytes = Vec::new();
        io::Read::read_to_end(&mut &file, &mut bytes)?;
        let last = bytes.chunks(SLOT).filter_map(Witness::decode).max_by_key(|(number, _)| *number);
        let number = last.map_or(0, |(number, _)| number);
        Ok((Self { file, number }, last.map(|(_, witness)| witness)))
    }

    /// Notes a commit, in the slot of the note before the last.
    ///
    /// # Errors
    /// The system refuses the write; the last note stays.
    pub fn note(&mut self, witness: &Witness) -> io::Result<()> {
        let number = self.number + 1;
        self.file.write_all_at(&witness.encode(number), number % 2 * SLOT as u64)?;
        self.number = number;
        Ok(())
    }

    /// Returns another handle of the file, for syncing.
    ///
    /// # Errors
    /// The system has no handle left.
    pub fn handle(&self) -> io::Result<File> {
        self.file.try_clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn witness(commits: u64) -> Witness {
        Witness {
            is_synced: true,
            is_closed: commits.is_multiple_of(2),
            commits,
            frames: 7,
            header: [3; HEADER],
            sum: [4; 8],
            starts: 5,
            file: FileMark { inode: 6, changed_ns: -7, directory_ns: 8 },
        }
    }

    #[test]
    fn the_last_note_is_found_again_and_a_broken_one_leaves_the_one_before() {
        let dir = tempfile::tempdir().unwrap();
        let database = dir.path().join("a.sqlite");
        let (mut file, found) = WitnessFile::open(&database).unwrap();
        assert_eq!(found, None);
        for commits in 1..=5 {
            file.note(&witness(commits)).unwrap();
            let (_, found) = WitnessFile::open(&database).unwrap();
            assert_eq!(found, Some(witness(commits)));
        }
        let path = beside(&database, ENDING);
        let bytes = std::fs::read(&path).unwrap();
        for at in SLOT..SLOT + USED + 4 {
            let mut bytes = bytes.clone();
            bytes[at] ^= 16;
            std::fs::write(&path, bytes).unwrap();
            assert_eq!(WitnessFile::open(&database).unwrap().1, Some(witness(4)), "byte {at}");
        }
    }
}
