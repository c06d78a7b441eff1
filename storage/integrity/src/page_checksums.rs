//! The checksums of an open database.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use parking_lot::Mutex;

use crate::bits::flip_one;
use crate::checksum_file::{self, ChecksumFile, FileState};
use crate::findings::Findings;

/// Returns the checksum of a page: CRC-32 and CRC-32C side by side, never 0.
///
/// 64 bits, so that a single flipped bit can be found and repaired: among 2^15 positions a wrong one fits by
/// chance once in 2^49.
#[must_use]
pub fn page_checksum(page: &[u8]) -> u64 {
    let sum = u64::from(crc32fast::hash(page)) << 32 | u64::from(crc32c::crc32c(page));
    sum.max(1)
}

/// Checksums of the pages of a database file.
///
/// A page without a checksum is not checked; its first write, or a [scan](Self::scan), makes one. The
/// database file itself stays open as long as this value exists: closing a handle would release the locks of
/// SQLite's connections to the file.
pub struct PageChecksums {
    database: PathBuf,
    file: File,
    page_size: u32,
    /// Held while a page is written, so that a check never sees a page without its checksum.
    state: Mutex<State>,
    /// Locked before `state`.
    stored: Mutex<ChecksumFile>,
    findings: Mutex<Findings>,
}

struct State {
    /// 0: not known. Page 1 comes first.
    sums: Vec<u64>,
    /// Pages whose checksums are not stored yet.
    unstored: BTreeSet<u32>,
}

/// Checksums, and the state of their file before.
pub struct Opened {
    /// The checksums.
    pub checksums: PageChecksums,
    /// What was found. Unless [`FileState::Whole`] or [`FileState::Torn`], no page has a checksum yet.
    pub found: FileState,
}

/// Result of a scan.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Scan {
    /// Number of pages read.
    pub read: u32,
    /// Pages that had no checksum and got one.
    pub taken: u32,
    /// Pages of which one flipped bit was repaired in the file.
    pub repaired: Vec<u32>,
    /// Pages whose content does not match their checksum.
    pub damaged: Vec<u32>,
}

impl PageChecksums {
    /// Opens the checksums of `database`, a file that no connection has open, and writes their file anew.
    /// Without room for that (`has_room`), goes on with a whole file as it is.
    ///
    /// `is_uncertain` tells of a page whether its checksum may be older than the page, as for pages in a
    /// `-wal` file. Such a page counts as without a checksum. `is_synced`: changes survive a power cut.
    ///
    /// # Errors
    /// The system refuses a call, the file is no SQLite database ([`io::ErrorKind::InvalidData`]), or there
    /// is no whole file and no room for a new one ([`io::ErrorKind::StorageFull`]).
    pub fn open(
        database: &Path,
        is_uncertain: impl Fn(u32) -> bool,
        is_synced: bool,
        has_room: bool,
    ) -> io::Result<Opened> {
        let file = File::options().read(true).write(true).open(database)?;
        let found = checksum_file::read(database)?;
        let page_size = match found.page_size {
            Some(size) => size,
            None => page_size_of(&file)?,
        };
        let mut sums = found.sums;
        for (page, sum) in (1..).zip(&mut sums) {
            if is_uncertain(page) {
                *sum = 0;
            }
        }
        let stored = match found.state {
            _ if has_room => ChecksumFile::make(database, page_size, &sums, is_synced)?,
            FileState::Whole => ChecksumFile::go_on(database, is_synced)?,
            _ => return Err(io::ErrorKind::StorageFull.into()),
        };
        let checksums = Self {
            database: database.canonicalize()?,
            file,
            page_size,
            state: Mutex::new(State { sums, unstored: BTreeSet::new() }),
            stored: Mutex::new(stored),
            findings: Mutex::default(),
        };
        Ok(Opened { checksums, found: found.state })
    }

    /// Returns whether the checksums beside `database` are of this file: its first page has its checksum, but
    /// for one flipped bit.
    #[must_use]
    pub fn belong_to(database: &Path) -> bool {
        let Ok(found) = checksum_file::read(database) else { return false };
        let (Some(size), Some(sum)) = (found.page_size, found.sums.first().copied()) else { return false };
        let mut page = vec![0; size as usize];
        let read = File::open(database).and_then(|file| file.read_exact_at(&mut page, 0));
        read.is_ok()
            && (page_checksum(&page) == sum || flip_one(&mut page, |page| page_checksum(page) == sum))
    }

    /// Returns the path of the database, without symbolic links.
    #[must_use]
    pub fn database(&self) -> &Path {
        &self.database
    }

    /// Returns the size of a page in bytes.
    #[must_use]
    pub fn page_size(&self) -> u32 {
        self.page_size
    }

    /// Returns the number of pages in the file.
    ///
    /// # Errors
    /// The system refuses to tell the length.
    pub fn pages(&self) -> io::Result<u32> {
        let pages = self.file.metadata()?.len() / u64::from(self.page_size);
        Ok(u32::try_from(pages).unwrap_or(u32::MAX))
    }

    /// Returns what checks found so far.
    #[must_use]
    pub fn findings(&self) -> Findings {
        self.findings.lock().clone()
    }

    /// Reads `count` pages from page `from` on and compares each with its checksum. A flipped bit is repaired
    /// in the file; a page without a checksum gets one. Does not disturb connections: each page is locked for
    /// itself.
    ///
    /// # Errors
    /// The system refuses a read or a write.
    pub fn scan(&self, from: u32, count: u32) -> io::Result<Scan> {
        self.scan_pages(from, count, true)
    }

    /// As [`scan`](Self::scan), without repairs: a page with one flipped bit counts as damaged.
    ///
    /// # Errors
    /// The system refuses a read.
    pub fn compare(&self, from: u32, count: u32) -> io::Result<Scan> {
        self.scan_pages(from, count, false)
    }

    fn scan_pages(&self, from: u32, count: u32, repair: bool) -> io::Result<Scan> {
        let mut scan = Scan::default();
        let mut page = vec![0; self.page_size as usize];
        let end = from.saturating_add(count).min(self.pages()?.saturating_add(1));
        for number in from.max(1)..end {
            self.scan_page(number, &mut page, repair, &mut scan)?;
        }
        Ok(scan)
    }

    fn scan_page(&self, number: u32, page: &mut [u8], repair: bool, scan: &mut Scan) -> io::Result<()> {
        let mut state = self.state.lock();
        self.file.read_exact_at(page, self.offset(number))?;
        scan.read += 1;
        let sum = state.get(number);
        if !repair && sum > 0 && page_checksum(page) != sum {
            scan.damaged.push(number);
            return Ok(());
        }
        match self.check(sum, number, page) {
            Checked::Unknown => {
                state.put(number, page_checksum(page));
                scan.taken += 1;
            }
            Checked::Good => {}
            Checked::Repaired => {
                self.file.write_all_at(page, self.offset(number))?;
                scan.repaired.push(number);
            }
            Checked::Damaged => scan.damaged.push(number),
        }
        Ok(())
    }

    /// Takes the contents of pages for what they should be, and counts them as changed.
    ///
    /// # Errors
    /// The system refuses a read.
    pub fn accept(&self, pages: &[u32]) -> io::Result<()> {
        let mut page = vec![0; self.page_size as usize];
        let mut state = self.state.lock();
        for number in pages {
            self.file.read_exact_at(&mut page, self.offset(*number))?;
            state.put(*number, page_checksum(&page));
            let mut findings = self.findings.lock();
            findings.damaged.remove(number);
            findings.changed.insert(*number);
        }
        Ok(())
    }

    /// Makes repairs durable, and the checksums made so far.
    ///
    /// # Errors
    /// The system refuses a call.
    pub fn sync_all(&self) -> io::Result<()> {
        self.store(true)?;
        self.file.sync_data()
    }

    /// Writes the file of checksums anew if it has become long.
    ///
    /// # Errors
    /// The system refuses a call; the former file stays.
    pub fn shorten(&self) -> io::Result<()> {
        let mut stored = self.stored.lock();
        if !stored.is_long() {
            return Ok(());
        }
        // What is written meanwhile stays unstored.
        let (sums, unstored) = {
            let mut state = self.state.lock();
            (state.sums.clone(), std::mem::take(&mut state.unstored))
        };
        let renewed = stored.renew(self.page_size, &sums);
        if renewed.is_err() {
            self.state.lock().unstored.extend(unstored);
        }
        renewed
    }

    /// Appends the checksums not stored yet, and syncs them if `sync`.
    pub(crate) fn store(&self, sync: bool) -> io::Result<()> {
        let mut stored = self.stored.lock();
        let (pages, entries) = {
            let mut state = self.state.lock();
            let pages = u32::try_from(state.sums.len()).unwrap_or(u32::MAX);
            let numbers = std::mem::take(&mut state.unstored);
            let entries: Vec<_> = numbers.into_iter().map(|page| (page, state.get(page))).collect();
            (pages, entries)
        };
        if !entries.is_empty()
            && let Err(error) = stored.append(pages, entries.iter().copied())
        {
            self.state.lock().unstored.extend(entries.iter().map(|(page, _)| page));
            return Err(error);
        }
        let file = stored.handle();
        drop(stored);
        if sync { file.sync_data() } else { Ok(()) }
    }

    /// Runs `write`, which writes `data` at `offset`, and notes the checksum if the write succeeded.
    pub(crate) fn written<T>(
        &self,
        offset: u64,
        data: &[u8],
        write: impl FnOnce() -> Result<(), T>,
    ) -> Result<(), T> {
        let mut state = self.state.lock();
        let written = write();
        match self.page_at(offset, data.len()) {
            Some(page) if written.is_ok() => state.put(page, page_checksum(data)),
            _ => {
                let size = u64::from(self.page_size);
                let last = (offset + data.len() as u64).saturating_sub(1) / size;
                (offset / size..=last)
                    .filter_map(|page| u32::try_from(page + 1).ok())
                    .for_each(|page| state.put(page, 0));
            }
        }
        written
    }

    /// Checks a page that SQLite has read, with one flipped bit repaired in `data`. `reread` reads the page
    /// again, should the first reading have met a write. Returns false if the page is damaged.
    pub(crate) fn is_right(&self, offset: u64, data: &mut [u8], reread: impl FnOnce(&mut [u8])) -> bool {
        let Some(number) = self.page_at(offset, data.len()) else { return true };
        let sum = self.state.lock().get(number);
        if sum == 0 || page_checksum(data) == sum {
            return true;
        }
        let state = self.state.lock();
        reread(data);
        let is_right = !matches!(self.check(state.get(number), number, data), Checked::Damaged);
        if !is_right {
            tracing::error!(page = number, "a page of the database does not match its checksum");
        }
        is_right
    }

    /// Forgets the pages behind the first `bytes`.
    pub(crate) fn truncated(&self, bytes: u64) {
        let pages = usize::try_from(bytes / u64::from(self.page_size)).unwrap_or(usize::MAX);
        let mut state = self.state.lock();
        state.sums.truncate(pages);
        state.unstored.retain(|page| *page as usize <= pages);
    }

    fn check(&self, sum: u64, number: u32, page: &mut [u8]) -> Checked {
        if sum == 0 {
            return Checked::Unknown;
        }
        if page_checksum(page) == sum {
            return Checked::Good;
        }
        let mut findings = self.findings.lock();
        if flip_one(page, |page| {
            crc32c::crc32c(page) == (sum & 0xFFFF_FFFF) as u32 && page_checksum(page) == sum
        }) {
            if findings.repaired.insert(number) {
                tracing::error!(
                    page = number,
                    "repaired a flipped bit in a page of the database: replace the disk or memory"
                );
            }
            return Checked::Repaired;
        }
        findings.damaged.insert(number);
        Checked::Damaged
    }

    fn page_at(&self, offset: u64, len: usize) -> Option<u32> {
        let size = u64::from(self.page_size);
        let is_page = len as u64 == size && offset.is_multiple_of(size);
        if is_page { u32::try_from(offset / size + 1).ok() } else { None }
    }

    fn offset(&self, page: u32) -> u64 {
        u64::from(page - 1) * u64::from(self.page_size)
    }
}

impl State {
    fn get(&self, page: u32) -> u64 {
        (page as usize).checked_sub(1).and_then(|at| self.sums.get(at)).copied().unwrap_or(0)
    }

    fn put(&mut self, page: u32, sum: u64) {
        checksum_file::set(&mut self.sums, page, sum);
        self.unstored.insert(page);
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Checked {
    Unknown,
    Good,
    Repaired,
    Damaged,
}

/// Reads the size of a page from the database's header.
fn page_size_of(database: &File) -> io::Result<u32> {
    let mut header = [0; 18];
    database.read_exact_at(&mut header, 0)?;
    match u16::from_be_bytes([header[16], header[17]]) {
        1 => Ok(65_536),
        size if size >= 512 && size.is_power_of_two() => Ok(u32::from(size)),
        size => Err(io::Error::new(io::ErrorKind::InvalidData, format!("a page size of {size} bytes"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: usize = 1_024;

    fn page(seed: u8) -> Vec<u8> {
        (0..=u8::MAX).cycle().take(SIZE).map(|at| at.wrapping_mul(seed).wrapping_add(seed)).collect()
    }

    /// A database of three pages with checksums, of which the file has been closed.
    fn made() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.sqlite");
        let mut bytes = [page(1), page(2), page(3)].concat();
        bytes[16..18].copy_from_slice(&1_024_u16.to_be_bytes());
        std::fs::write(&path, bytes).unwrap();
        let opened = PageChecksums::open(&path, |_| false, true, true).unwrap();
        assert_eq!(opened.found, FileState::Missing);
        assert_eq!(
            opened.checksums.scan(1, u32::MAX).unwrap(),
            Scan { read: 3, taken: 3, ..Scan::default() }
        );
        opened.checksums.sync_all().unwrap();
        (dir, path)
    }

    fn flip(path: &Path, at: usize, bits: u8) {
        let mut bytes = std::fs::read(path).unwrap();
        bytes[at] ^= bits;
        std::fs::write(path, bytes).unwrap();
    }

    #[test]
    fn one_flipped_bit_of_a_page_is_repaired_and_two_are_reported() {
        let (_dir, path) = made();
        let before = std::fs::read(&path).unwrap();
        flip(&path, SIZE + 77, 0b100);
        let opened = PageChecksums::open(&path, |_| false, true, true).unwrap();
        let scan = opened.checksums.scan(1, 3).unwrap();
        assert_eq!((scan.repaired, scan.damaged), (vec![2], vec![]));
        assert_eq!(std::fs::read(&path).unwrap(), before);
        flip(&path, 2 * SIZE + 5, 0b11);
        let scan = opened.checksums.scan(1, 3).unwrap();
        assert_eq!((scan.repaired, scan.damaged), (vec![], vec![3]));
        assert_eq!(opened.checksums.findings().damaged, [3].into());
        opened.checksums.accept(&[3]).unwrap();
        assert_eq!(opened.checksums.scan(1, 3).unwrap(), Scan { read: 3, ..Scan::default() });
    }

    #[test]
    fn a_page_that_may_be_newer_than_its_checksum_is_not_damaged() {
        let (_dir, path) = made();
        flip(&path, SIZE + 77, 0b111);
        let opened = PageChecksums::open(&path, |page| page == 2, true, true).unwrap();
        assert_eq!(opened.checksums.scan(1, 3).unwrap(), Scan { read: 3, taken: 1, ..Scan::default() });
    }

    #[test]
    fn the_last_record_counts_and_a_torn_one_does_not() {
        let (_dir, path) = made();
        let file = beside(&path);
        let opened = PageChecksums::open(&path, |_| false, true, true).unwrap().checksums;
        let of_open = std::fs::read(&file).unwrap().len();
        for seed in [7, 8] {
            let new = page(seed);
            opened.written::<()>(SIZE as u64, &new, || Ok(())).unwrap();
            opened.store(true).unwrap();
        }
        drop(opened);
        let bytes = std::fs::read(&file).unwrap();
        let record = (bytes.len() - of_open) / 2;
        for (cut, want, state) in [
            (0, page_checksum(&page(8)), FileState::Whole),
            (1, page_checksum(&page(7)), FileState::Torn),
            (record, page_checksum(&page(7)), FileState::Whole),
        ] {
            std::fs::write(&file, &bytes[..bytes.len() - cut]).unwrap();
            let found = checksum_file::read(&path).unwrap();
            assert_eq!((found.state, found.sums[1]), (state, want), "{cut} bytes cut off");
        }
        for at in [3, 40, of_open + 9] {
            std::fs::write(&file, &bytes).unwrap();
            flip(&file, at, 1);
            assert_eq!(checksum_file::read(&path).unwrap().state, FileState::Damaged, "byte {at}");
        }
    }

    #[test]
    fn a_long_file_is_written_anew_with_what_counts() {
        let (_dir, path) = made();
        let opened = PageChecksums::open(&path, |_| false, true, true).unwrap().checksums;
        let mut longest = 0;
        for round in (0..=u8::MAX).cycle().take(80_000) {
            opened.written::<()>(0, &page(round), || Ok(())).unwrap();
            opened.store(false).unwrap();
            opened.shorten().unwrap();
            longest = longest.max(std::fs::metadata(beside(&path)).unwrap().len());
        }
        assert!((1 << 20..2 << 20).contains(&longest), "{longest}");
        drop(opened);
        let found = checksum_file::read(&path).unwrap();
        assert_eq!(found.sums[0], page_checksum(&page(127)));
        assert_eq!(found.sums[2], page_checksum(&page(3)));
    }

    fn beside(path: &Path) -> PathBuf {
        crate::beside(path, checksum_file::ENDING)
    }
}
