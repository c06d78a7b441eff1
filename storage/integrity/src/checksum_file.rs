//! The file of checksums: a header, then records of (page, checksum), of which later ones count.
//!
//! Each checkpoint appends one record. A new file with a single record replaces a long one. A power cut may
//! tear the last record; its pages are in the `-wal` file then, since SQLite discards that only after the
//! database file was synced, and this file is synced first.
//!
//! All numbers are little-endian. Header, 32 bytes: `mallsums`, version, page size, 12 unused bytes, CRC-32C
//! of those. Record: `PSUM`, number of entries, pages of the database, CRC-32C of those and the entries; then
//! an entry of 12 bytes per page.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::beside;
use crate::bits::{le32, le64};

/// Ending of the file beside the database.
pub(crate) const ENDING: &str = "-checksums";

const MAGIC: &[u8; 8] = b"mallsums";
const VERSION: u32 = 1;
const HEADER: usize = 32;
const TAG: &[u8; 4] = b"PSUM";
const RECORD: usize = 16;
const ENTRY: usize = 12;
/// Records behind the first one may take this many bytes more than the first one before the file is written
/// anew.
const GROWTH_MIN_BYTES: u64 = 1 << 20;

/// State of the file of checksums at the opening.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileState {
    /// There is none.
    Missing,
    /// Every record is readable.
    Whole,
    /// The last record is unreadable: torn by a power cut, or damaged.
    Torn,
    /// The header, or a record with others behind it, is unreadable. The checksums are of no use.
    Damaged,
}

/// Contents of a file: the checksum of each page, 0 where none is known. Page 1 comes first.
pub(crate) struct Contents {
    pub(crate) state: FileState,
    pub(crate) page_size: Option<u32>,
    pub(crate) sums: Vec<u64>,
}

/// A file open for appending.
pub(crate) struct ChecksumFile {
    path: PathBuf,
    file: Arc<File>,
    len: u64,
    first_len: u64,
    is_synced: bool,
}

/// Returns the checksums in the file beside `database`, which a mall may be writing: of each page as of the
/// last checkpoint that ended, 0 where none is known. Page 1 comes first. Without a whole file there are
/// none.
///
/// # Errors
/// The system refuses a call.
pub fn stored_checksums(database: &Path) -> io::Result<Vec<u64>> {
    let contents = read(database)?;
    Ok(if contents.state == FileState::Whole { contents.sums } else { Vec::new() })
}

/// Reads the file beside `database`.
pub(crate) fn read(database: &Path) -> io::Result<Contents> {
    let nothing = |state| Contents { state, page_size: None, sums: Vec::new() };
    let bytes = match fs::read(beside(database, ENDING)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(nothing(FileState::Missing)),
        bytes => bytes?,
    };
    let is_header = bytes.len() >= HEADER
        && bytes.starts_with(MAGIC)
        && le32(&bytes, 8) == VERSION
        && le32(&bytes, HEADER - 4) == crc32c::crc32c(&bytes[..HEADER - 4]);
    if !is_header {
        return Ok(nothing(FileState::Damaged));
    }
    let (mut sums, mut at) = (Vec::new(), HEADER);
    while let Some(end) = record_at(&bytes, at) {
        for entry in bytes[at + RECORD..end].chunks_exact(ENTRY) {
            set(&mut sums, le32(entry, 0), le64(entry, 4));
        }
        sums.truncate(le32(&bytes, at + 8) as usize);
        at = end;
    }
    let is_damaged = || (at + 1..bytes.len()).any(|at| record_at(&bytes, at).is_some());
    let state = match at {
        _ if at == bytes.len() => FileState::Whole,
        // The first record is synced before the file gets its name.
        HEADER => FileState::Damaged,
        _ if is_damaged() => FileState::Damaged,
        _ => FileState::Torn,
    };
    if state == FileState::Damaged {
        return Ok(nothing(state));
    }
    Ok(Contents { state, page_size: Some(le32(&bytes, 12)), sums })
}

/// Returns the end of the valid record at a position.
fn record_at(bytes: &[u8], at: usize) -> Option<usize> {
    let head = bytes.get(at..at + RECORD)?;
    if !head.starts_with(TAG) {
        return None;
    }
    let end = at.checked_add(RECORD)?.checked_add((le32(head, 4) as usize).checked_mul(ENTRY)?)?;
    let entries = bytes.get(at + RECORD..end)?;
    let crc = crc32c::crc32c_append(crc32c::crc32c(&head[..12]), entries);
    (crc == le32(head, 12)).then_some(end)
}

/// Stores the checksum of a page. Pages are numbered from 1.
pub(crate) fn set(sums: &mut Vec<u64>, page: u32, sum: u64) {
    let Some(at) = (page as usize).checked_sub(1) else { return };
    if at >= sums.len() {
        sums.resize(at + 1, 0);
    }
    sums[at] = sum;
}

fn record(pages: u32, entries: impl ExactSizeIterator<Item = (u32, u64)>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(RECORD + entries.len() * ENTRY);
    bytes.extend_from_slice(TAG);
    bytes.extend_from_slice(&u32::try_from(entries.len()).unwrap_or(u32::MAX).to_le_bytes());
    bytes.extend_from_slice(&pages.to_le_bytes());
    bytes.extend_from_slice(&[0; 4]);
    for (page, sum) in entries {
        bytes.extend_from_slice(&page.to_le_bytes());
        bytes.extend_from_slice(&sum.to_le_bytes());
    }
    let crc = crc32c::crc32c_append(crc32c::crc32c(&bytes[..12]), &bytes[RECORD..]);
    bytes[12..RECORD].copy_from_slice(&crc.to_le_bytes());
    bytes
}

impl ChecksumFile {
    /// Writes a new file in place of a former one. Synced if `is_synced`.
    ///
    /// # Errors
    /// The system refuses a call; the former file stays.
    pub(crate) fn make(database: &Path, page_size: u32, sums: &[u64], is_synced: bool) -> io::Result<Self> {
        let mut bytes = Vec::from(MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&page_size.to_le_bytes());
        bytes.resize(HEADER - 4, 0);
        bytes.extend_from_slice(&crc32c::crc32c(&bytes).to_le_bytes());
        let pages = u32::try_from(sums.len()).unwrap_or(u32::MAX);
        let entries: Vec<_> = (1..).zip(sums.iter().copied()).collect();
        bytes.extend(record(pages, entries.into_iter()));

        let (path, new) = (beside(database, ENDING), beside(database, "-checksums.new"));
        let mut file = File::options().read(true).write(true).create(true).truncate(true).open(&new)?;
        file.write_all(&bytes)?;
        if is_synced {
            file.sync_all()?;
        }
        fs::rename(&new, &path)?;
        if is_synced && let Some(dir) = path.parent().filter(|dir| !dir.as_os_str().is_empty()) {
            File::open(dir)?.sync_all()?;
        }
        let len = bytes.len() as u64;
        Ok(Self { path: database.to_owned(), file: Arc::new(file), len, first_len: len, is_synced })
    }

    /// Goes on with a whole file as it is, for a disk without room for a new one.
    ///
    /// # Errors
    /// The system refuses a call.
    pub(crate) fn go_on(database: &Path, is_synced: bool) -> io::Result<Self> {
        let file = File::options().read(true).write(true).open(beside(database, ENDING))?;
        let len = file.metadata()?.len();
        Ok(Self { path: database.to_owned(), file: Arc::new(file), len, first_len: len, is_synced })
    }

    /// Appends a record.
    ///
    /// # Errors
    /// The system refuses the write; the file is as before.
    pub(crate) fn append(
        &mut self,
        pages: u32,
        entries: impl ExactSizeIterator<Item = (u32, u64)>,
    ) -> io::Result<()> {
        let bytes = record(pages, entries);
        if let Err(error) = self.file.write_all_at(&bytes, self.len) {
            // A part of the record would count as torn, with nothing valid behind: the next one overwrites
            // it.
            drop(self.file.set_len(self.len));
            return Err(error);
        }
        self.len += bytes.len() as u64;
        Ok(())
    }

    /// Returns a handle for syncing.
    pub(crate) fn handle(&self) -> Arc<File> {
        Arc::clone(&self.file)
    }

    /// Returns whether the records behind the first one take more room than the first one.
    pub(crate) fn is_long(&self) -> bool {
        self.len > 2 * self.first_len + GROWTH_MIN_BYTES
    }

    /// Writes the file anew with a single record.
    ///
    /// # Errors
    /// The system refuses a call; the former file stays.
    pub(crate) fn renew(&mut self, page_size: u32, sums: &[u64]) -> io::Result<()> {
        *self = Self::make(&self.path, page_size, sums, self.is_synced)?;
        Ok(())
    }
}
