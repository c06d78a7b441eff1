//! A stream: what changed since a backup, point after point, in one file beside the backup.
//!
//! The file begins with a line of text. Each point follows as a frame: the length of its archive and its time
//! in ms since 1970 in eight bytes each, a CRC-32 of these in four, all little-endian, and the archive, of
//! the same form as a backup. A point names the SHA-256 of what precedes it, the backup or another point:
//! none can be missing, exchanged, or of another stream.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, ErrorKind, Read, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use mallbox_storage::hex;
use sha2::{Digest as _, Sha256};

use super::directory_of;
use super::fault::BackupFault;

const FIRST_LINE: &[u8] = b"mallbox stream 1\n";
const NUMBER_BYTES: usize = 8;
const CHECKED_BYTES: usize = 2 * NUMBER_BYTES;
const FRAME_HEADER_BYTES: usize = CHECKED_BYTES + 4;
/// Size limit of a point in bytes: a `-wal` file and pictures, compressed.
const POINT_MAX_BYTES: u64 = 4 << 30;

/// A place in a stream: the number of the next point, and the SHA-256 of what precedes it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Position {
    /// Number of the next point, from 1.
    pub number: u64,
    /// SHA-256 of the backup or of the point before, in hexadecimal.
    pub previous: String,
}

impl Position {
    /// Returns the position behind a backup.
    ///
    /// # Errors
    /// The backup cannot be read.
    pub fn behind_backup(backup: &Path) -> io::Result<Self> {
        let (mut file, mut hash, mut buffer) = (File::open(backup)?, Sha256::new(), vec![0; 1 << 16]);
        loop {
            match file.read(&mut buffer)? {
                0 => break,
                read => hash.update(&buffer[..read]),
            }
        }
        Ok(Self { number: 1, previous: hex(&hash.finalize()) })
    }

    fn advance(&mut self, archive: &[u8]) {
        self.number += 1;
        self.previous = hex(&Sha256::digest(archive));
    }
}

/// A stream being written.
#[derive(Debug)]
pub struct PointWriter {
    file: File,
    position: Position,
    bytes: u64,
}

impl PointWriter {
    /// Creates the stream behind a backup, which starts at `position`. Readable by the owner alone.
    ///
    /// # Errors
    /// The file exists, or cannot be written.
    pub fn create(path: &Path, position: Position) -> io::Result<Self> {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        file.write_all(FIRST_LINE)?;
        file.sync_all()?;
        File::open(directory_of(path))?.sync_all()?;
        Ok(Self { file, position, bytes: FIRST_LINE.len() as u64 })
    }

    /// Returns the position of the next point.
    #[must_use]
    pub fn position(&self) -> &Position {
        &self.position
    }

    /// Returns the length of the file in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Appends a point durably. `taken`: its time, in ms since 1970.
    ///
    /// # Errors
    /// The point is too large, or the file cannot be written. The stream ends there: part of the point may be
    /// in the file.
    pub fn append(&mut self, archive: &[u8], taken: i64) -> io::Result<()> {
        let length = archive.len() as u64;
        if length > POINT_MAX_BYTES {
            let text = format!(
                "{length} bytes have changed since the last point, and a point has at most {POINT_MAX_BYTES}"
            );
            return Err(io::Error::new(ErrorKind::FileTooLarge, text));
        }
        let checked = [length.to_le_bytes(), taken.to_le_bytes()].concat();
        self.file.write_all(&checked)?;
        self.file.write_all(&crc32fast::hash(&checked).to_le_bytes())?;
        self.file.write_all(archive)?;
        self.file.sync_data()?;
        self.position.advance(archive);
        self.bytes += (FRAME_HEADER_BYTES + archive.len()) as u64;
        Ok(())
    }
}

/// A point as it is in a stream.
#[derive(Debug)]
pub struct Frame {
    /// Where the point has to belong to.
    pub position: Position,
    /// Time of the point, in ms since 1970.
    pub taken: i64,
    /// The archive.
    pub archive: Vec<u8>,
    /// Whether the file ends here: an archive that is unreadable then was cut off by a crash.
    pub is_last: bool,
}

/// A stream being read.
#[derive(Debug)]
pub struct PointReader {
    path: PathBuf,
    file: BufReader<File>,
    position: Position,
    left: u64,
    /// Bytes at the end that belong to no whole point.
    torn_bytes: u64,
}

impl PointReader {
    /// Opens the stream behind a backup.
    ///
    /// # Errors
    /// [`BackupFault`]: the file cannot be read, or is no stream.
    pub fn open(path: &Path, position: Position) -> Result<Self, BackupFault> {
        let refused = |source| BackupFault::Io { path: path.to_owned(), source };
        let file = File::open(path).map_err(refused)?;
        let bytes = file.metadata().map_err(refused)?.len();
        let mut file = BufReader::new(file);
        let mut first = [0; FIRST_LINE.len()];
        match file.read_exact(&mut first) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Err(BackupFault::NotABackup),
            read => read.map_err(refused)?,
        }
        if first != FIRST_LINE {
            return Err(BackupFault::NotABackup);
        }
        Ok(Self { path: path.to_owned(), file, position, left: bytes - first.len() as u64, torn_bytes: 0 })
    }

    /// Returns the number of bytes at the end that belong to no whole point, once all points were read.
    #[must_use]
    pub fn torn_bytes(&self) -> u64 {
        self.torn_bytes
    }

    /// Reads the next point; `None` at the end, and before a point that a crash has cut off.
    ///
    /// # Errors
    /// [`BackupFault`]: the file is damaged, or cannot be read.
    pub fn next_point(&mut self) -> Result<Option<Frame>, BackupFault> {
        let Some((length, taken)) = self.next_header()? else { return Ok(None) };
        let length = usize::try_from(length).map_err(|_| BackupFault::Damaged { entry: None })?;
        let mut archive = vec![0; length];
        self.read(&mut archive)?;
        self.left -= archive.len() as u64;
        let position = self.position.clone();
        self.position.advance(&archive);
        Ok(Some(Frame { position, taken, archive, is_last: self.left == 0 }))
    }

    /// Returns the time of the last point at or before `until`, in ms since 1970; `None` if there is none.
    /// Reads the headers alone, up to the first that is unreadable.
    #[must_use]
    pub fn reach(mut self, until: i64) -> Option<i64> {
        let mut reached = None;
        while let Ok(Some((length, taken))) = self.next_header() {
            let skipped = i64::try_from(length).ok().map(|length| self.file.seek_relative(length));
            if taken > until || skipped.is_none_or(|skipped| skipped.is_err()) {
                break;
            }
            self.left -= length;
            reached = Some(taken);
        }
        reached
    }

    /// Reads the header of the next point: the length of its archive, which is there as a whole, and its
    /// time.
    fn next_header(&mut self) -> Result<Option<(u64, i64)>, BackupFault> {
        if self.left < FRAME_HEADER_BYTES as u64 {
            return Ok(self.torn());
        }
        let mut header = [0; FRAME_HEADER_BYTES];
        self.read(&mut header)?;
        let (checked, checksum) = header.split_at(CHECKED_BYTES);
        if crc32fast::hash(checked).to_le_bytes() != *checksum {
            // A crash leaves zeros where nothing was written yet.
            let is_torn = self.is_zero_to_the_end()?;
            return if is_torn { Ok(self.torn()) } else { Err(BackupFault::Damaged { entry: None }) };
        }
        let number = |bytes: &[u8]| <[u8; NUMBER_BYTES]>::try_from(bytes).expect("eight bytes");
        let (length, taken) = checked.split_at(NUMBER_BYTES);
        let (length, taken) = (u64::from_le_bytes(number(length)), i64::from_le_bytes(number(taken)));
        if length > self.left - header.len() as u64 {
            return Ok(self.torn());
        }
        self.left -= header.len() as u64;
        if length > POINT_MAX_BYTES {
            Err(BackupFault::Damaged { entry: None })
        } else {
            Ok(Some((length, taken)))
        }
    }

    fn torn<T>(&mut self) -> Option<T> {
        self.torn_bytes = std::mem::take(&mut self.left);
        None
    }

    fn is_zero_to_the_end(&mut self) -> Result<bool, BackupFault> {
        let mut block = [0; 1 << 12];
        loop {
            let refused = |source| BackupFault::Io { path: self.path.clone(), source };
            match self.file.read(&mut block).map_err(refused)? {
                0 => return Ok(true),
                read if block[..read].iter().any(|byte| *byte != 0) => return Ok(false),
                _ => {}
            }
        }
    }

    fn read(&mut self, into: &mut [u8]) -> Result<(), BackupFault> {
        self.file.read_exact(into).map_err(|source| BackupFault::Io { path: self.path.clone(), source })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn start() -> Position {
        Position { number: 1, previous: "of the backup".to_owned() }
    }

    /// A stream of three points.
    fn stream() -> (tempfile::TempDir, PathBuf, Vec<Vec<u8>>) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("stream");
        let points = [vec![], vec![1; 10], vec![3; 70_000]];
        let mut writer = PointWriter::create(&path, start()).unwrap();
        for point in &points {
            writer.append(point, i64::try_from(point.len()).unwrap()).unwrap();
        }
        assert_eq!(writer.bytes(), fs::metadata(&path).unwrap().len());
        assert!(PointWriter::create(&path, start()).is_err(), "a stream is never replaced");
        (dir, path, points.into())
    }

    /// Reads all points. Returns them and the bytes torn off.
    fn read(path: &Path) -> Result<(Vec<Vec<u8>>, u64), BackupFault> {
        let mut reader = PointReader::open(path, start())?;
        let mut points = Vec::new();
        while let Some(frame) = reader.next_point()? {
            points.push(frame.archive);
        }
        Ok((points, reader.torn_bytes()))
    }

    #[test]
    fn a_stream_reaches_its_last_point_before_an_instant() {
        let (_dir, path, _) = stream();
        let reach = |until| PointReader::open(&path, start()).unwrap().reach(until);
        assert_eq!(
            [-1, 0, 9, 10, 69_999, 70_000].map(reach),
            [None, Some(0), Some(0), Some(10), Some(10), Some(70_000)]
        );
    }

    #[test]
    fn points_are_read_in_their_order_with_their_positions() {
        let (_dir, path, points) = stream();
        let mut reader = PointReader::open(&path, start()).unwrap();
        let mut expected = start();
        for (point, number) in points.iter().zip(1..) {
            let frame = reader.next_point().unwrap().unwrap();
            assert_eq!((&frame.archive, &frame.position, frame.is_last), (point, &expected, number == 3));
            expected.advance(point);
        }
        assert!(reader.next_point().unwrap().is_none() && reader.torn_bytes() == 0);
    }

    #[test]
    fn a_stream_cut_off_anywhere_ends_with_its_last_whole_point() {
        let (_dir, path, points) = stream();
        let whole = fs::read(&path).unwrap();
        let ends: Vec<usize> = points
            .iter()
            .scan(FIRST_LINE.len(), |end, point| {
                *end += FRAME_HEADER_BYTES + point.len();
                Some(*end)
            })
            .collect();
        for length in (FIRST_LINE.len()..whole.len()).step_by(7).chain(ends.clone()) {
            // Behind the cut nothing, or zeros where nothing was written yet.
            for zeros in [0, 5, 4_096] {
                let last_whole = ends.iter().filter(|end| **end <= length).count();
                fs::write(&path, [&whole[..length], &vec![0; zeros]].concat()).unwrap();
                let (read, torn) = read(&path).unwrap();
                if read.len() > last_whole {
                    // The zeros complete the length of the point: its archive is not whole, and the last.
                    assert_eq!(read.len(), last_whole + 1, "{length} bytes and {zeros} zeros");
                } else {
                    assert_eq!(read, points[..last_whole], "{length} bytes and {zeros} zeros");
                    let end = if last_whole == 0 { FIRST_LINE.len() } else { ends[last_whole - 1] };
                    assert_eq!(torn, (length + zeros - end) as u64);
                }
            }
        }
    }

    #[test]
    fn a_flipped_bit_in_a_length_is_damage_and_no_end() {
        let (_dir, path, _) = stream();
        let whole = fs::read(&path).unwrap();
        for bit in 0..FRAME_HEADER_BYTES * 8 {
            let mut flipped = whole.clone();
            flipped[FIRST_LINE.len() + bit / 8] ^= 1 << (bit % 8);
            fs::write(&path, flipped).unwrap();
            assert!(matches!(read(&path), Err(BackupFault::Damaged { .. })), "bit {bit}");
        }
        for other in [&b""[..], b"mallbox", b"mallbox stream 2\n"] {
            fs::write(&path, other).unwrap();
            assert!(matches!(read(&path), Err(BackupFault::NotABackup)));
        }
    }
}
