//! The format of SQLite's `-wal` file: <https://www.sqlite.org/fileformat2.html#the_write_ahead_log>.
//!
//! A file is a header and frames, numbered from 1. A frame is [`FRAME_HEADER`] bytes and a page.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use crate::bits::be32;

/// Length of the header in bytes.
pub const HEADER: usize = 32;
/// Length of a frame without its page, in bytes.
pub const FRAME_HEADER: usize = 24;
/// Bytes of a frame's header in front of the salts; the checksum covers these and the page.
const SUMMED: usize = 8;

/// The only version of the format.
const VERSION: u32 = 3_007_000;

/// A running checksum: each frame continues the one before, the first frame that of the header.
pub type Sum = (u32, u32);

/// A valid header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WalHeader {
    pub(crate) bytes: [u8; HEADER],
}

impl WalHeader {
    /// Returns the header if its checksum is right.
    #[must_use]
    pub fn parse(bytes: &[u8; HEADER]) -> Option<Self> {
        let header = Self { bytes: *bytes };
        let is_valid = be32(bytes, 0) & !1 == 0x377F_0682
            && be32(bytes, 4) == VERSION
            && (512..=65_536).contains(&header.page_size())
            && header.page_size().is_power_of_two()
            && header.sum_of((0, 0), &bytes[..HEADER - 8]) == header.sum();
        is_valid.then_some(header)
    }

    /// Returns whether checksums read the bytes as big-endian numbers.
    pub(crate) fn is_big(&self) -> bool {
        be32(&self.bytes, 0) & 1 == 1
    }

    /// Returns the size of a page in bytes.
    #[must_use]
    pub fn page_size(&self) -> usize {
        be32(&self.bytes, 8) as usize
    }

    /// Returns the number of times that the file was begun anew.
    #[must_use]
    pub fn sequence(&self) -> u32 {
        be32(&self.bytes, 12)
    }

    /// Returns the two numbers that each frame repeats: the first grows by one with each new beginning, the
    /// second is random.
    #[must_use]
    pub fn salts(&self) -> &[u8] {
        &self.bytes[16..24]
    }

    /// Returns the number that grows by one with each new beginning.
    #[must_use]
    pub fn first_salt(&self) -> u32 {
        be32(&self.bytes, 16)
    }

    /// Returns the checksum that the first frame continues.
    #[must_use]
    pub fn sum(&self) -> Sum {
        (be32(&self.bytes, 24), be32(&self.bytes, 28))
    }

    /// Returns the length of a frame with its page, in bytes.
    #[must_use]
    pub fn frame_len(&self) -> usize {
        FRAME_HEADER + self.page_size()
    }

    /// Returns the place of a frame in the file. The number of a frame is at least 1.
    #[must_use]
    pub fn offset(&self, frame: u32) -> u64 {
        HEADER as u64 + u64::from(frame - 1) * self.frame_len() as u64
    }

    /// Continues a checksum over bytes, whose number is a multiple of eight.
    pub(crate) fn sum_of(&self, from: Sum, bytes: &[u8]) -> Sum {
        let is_big = self.is_big();
        let word = |bytes: &[u8], at: usize| {
            let word = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
            if is_big { u32::from_be_bytes(word) } else { u32::from_le_bytes(word) }
        };
        bytes.chunks_exact(8).fold(from, |(first, second), words| {
            let first = first.wrapping_add(word(words, 0)).wrapping_add(second);
            (first, second.wrapping_add(word(words, 4)).wrapping_add(first))
        })
    }

    /// Returns the checksum that a frame should have behind `from`.
    pub(crate) fn sum_of_frame(&self, from: Sum, frame: &[u8]) -> Sum {
        self.sum_of(self.sum_of(from, &frame[..SUMMED]), &frame[FRAME_HEADER..])
    }

    /// Returns whether a frame is of this beginning of the file, and continues `from`.
    #[must_use]
    pub fn is_next(&self, from: Sum, frame: &[u8]) -> bool {
        salts_of(frame) == self.salts()
            && page_of(frame) > 0
            && self.sum_of_frame(from, frame) == sum_of(frame)
    }
}

/// Returns the number of the page in a frame; 0 in no valid one.
#[must_use]
pub fn page_of(frame: &[u8]) -> u32 {
    be32(frame, 0)
}

/// Returns whether a frame is the last one of a transaction.
#[must_use]
pub fn is_commit(frame: &[u8]) -> bool {
    database_pages(frame) > 0
}

/// Returns the size of the database in pages after the transaction that ends with a frame; 0 in any other
/// frame.
#[must_use]
pub fn database_pages(frame: &[u8]) -> u32 {
    be32(frame, 4)
}

/// Returns the salts in a frame.
#[must_use]
pub fn salts_of(frame: &[u8]) -> &[u8] {
    &frame[8..16]
}

/// Returns the checksum stored in a frame.
#[must_use]
pub fn sum_of(frame: &[u8]) -> Sum {
    (be32(frame, 16), be32(frame, 20))
}

/// Reads as many bytes as `buffer` has. Returns false if the file ends before.
///
/// # Errors
/// The system refuses a call.
pub fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<bool> {
    match file.read_exact_at(buffer, offset) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        read => read.map(|()| true),
    }
}
