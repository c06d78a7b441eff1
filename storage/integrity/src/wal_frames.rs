//! The format of SQLite's `-wal` file: <https://www.sqlite.org/fileformat2.html#the_write_ahead_log>.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use crate::bits::be32;

pub(crate) const HEADER: usize = 32;
pub(crate) const FRAME_HEADER: usize = 24;
/// Bytes of a frame's header in front of the salts; the checksum covers these and the page.
const SUMMED: usize = 8;

/// The only version of the format.
const VERSION: u32 = 3_007_000;

/// A running checksum: each frame continues the one before, the first frame that of the header.
pub(crate) type Sum = (u32, u32);

/// A valid header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct WalHeader {
    pub(crate) bytes: [u8; HEADER],
}

impl WalHeader {
    /// Returns the header if its checksum is right.
    pub(crate) fn parse(bytes: &[u8; HEADER]) -> Option<Self> {
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

    pub(crate) fn page_size(&self) -> usize {
        be32(&self.bytes, 8) as usize
    }

    /// Number of times that the file was begun anew.
    pub(crate) fn sequence(&self) -> u32 {
        be32(&self.bytes, 12)
    }

    /// Two numbers that each frame repeats: the first grows by one with each new beginning, the second is
    /// random.
    pub(crate) fn salts(&self) -> &[u8] {
        &self.bytes[16..24]
    }

    pub(crate) fn first_salt(&self) -> u32 {
        be32(&self.bytes, 16)
    }

    pub(crate) fn sum(&self) -> Sum {
        (be32(&self.bytes, 24), be32(&self.bytes, 28))
    }

    pub(crate) fn frame_len(&self) -> usize {
        FRAME_HEADER + self.page_size()
    }

    pub(crate) fn offset(&self, frame: u32) -> u64 {
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
    pub(crate) fn is_next(&self, from: Sum, frame: &[u8]) -> bool {
        salts_of(frame) == self.salts()
            && page_of(frame) > 0
            && self.sum_of_frame(from, frame) == sum_of(frame)
    }
}

/// Number of the page in a frame; 0 in no valid one.
pub(crate) fn page_of(frame: &[u8]) -> u32 {
    be32(frame, 0)
}

/// Returns whether a frame is the last one of a transaction.
pub(crate) fn is_commit(frame: &[u8]) -> bool {
    be32(frame, 4) > 0
}

pub(crate) fn salts_of(frame: &[u8]) -> &[u8] {
    &frame[8..16]
}

/// The checksum stored in a frame.
pub(crate) fn sum_of(frame: &[u8]) -> Sum {
    (be32(frame, 16), be32(frame, 20))
}

/// Reads as many bytes as `buffer` has. Returns false if the file ends before.
pub(crate) fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<bool> {
    match file.read_exact_at(buffer, offset) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        read => read.map(|()| true),
    }
}
