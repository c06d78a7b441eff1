//! A record as bytes: a header of 56 bytes and the body, padded to whole blocks. Numbers are little-endian.
//!
//! | bytes | content |
//! | --- | --- |
//! | 0-7 | `mbwal` and the version of the format, three digits |
//! | 8-11 | CRC-32C of the remaining header and the body |
//! | 12-15 | length of the body |
//! | 16-23 | id of the log |
//! | 24-31 | epoch of the segment |
//! | 32-39 | number from which on the epoch supersedes earlier ones |
//! | 40-47 | number of the record |
//! | 48-55 | highest number known to be durable when the record was written |

use super::blocks::{Blocks, padded};

const MAGIC: &[u8; 8] = b"mbwal001";
/// Length of a header in bytes.
pub(crate) const HEADER_BYTES: usize = 56;
/// Offset from which the checksum counts.
const CHECKED_FROM: usize = 12;
/// Maximum length of a body in bytes: a bound on the memory of one write.
pub const BODY_MAX_BYTES: usize = (1 << 20) - HEADER_BYTES;

/// The header of a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Header {
    pub(crate) log_id: u64,
    pub(crate) epoch: u64,
    /// Number from which on records of earlier epochs do not count.
    pub(crate) supersedes_from: u64,
    pub(crate) number: u64,
    /// The highest number known to be durable when the record was written.
    pub(crate) durable: u64,
}

/// Returns the space of a record in a segment, in bytes.
pub(crate) fn record_bytes(body: usize) -> usize {
    padded(HEADER_BYTES + body)
}

/// Encodes a record in whole blocks.
pub(crate) fn encode<'a>(header: &Header, body: &[u8], blocks: &'a mut Blocks) -> &'a [u8] {
    let length = u32::try_from(body.len()).expect("a body is at most BODY_MAX_BYTES long");
    let record = blocks.zeroed(HEADER_BYTES + body.len());
    record[..8].copy_from_slice(MAGIC);
    record[12..16].copy_from_slice(&length.to_le_bytes());
    let words = [header.log_id, header.epoch, header.supersedes_from, header.number, header.durable];
    for (word, at) in words.iter().zip((16..).step_by(8)) {
        record[at..at + 8].copy_from_slice(&word.to_le_bytes());
    }
    let end = HEADER_BYTES + body.len();
    record[HEADER_BYTES..end].copy_from_slice(body);
    let checksum = crc32c::crc32c(&record[CHECKED_FROM..end]);
    record[8..12].copy_from_slice(&checksum.to_le_bytes());
    record
}

/// Decodes the record at the start of `bytes`. `None` if there is no whole record.
pub(crate) fn decode(bytes: &[u8]) -> Option<(Header, &[u8])> {
    if bytes.len() < HEADER_BYTES || bytes[..8] != *MAGIC {
        return None;
    }
    let half = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
    let length = usize::try_from(half(12)).ok().filter(|length| *length <= BODY_MAX_BYTES)?;
    let checked = bytes.get(CHECKED_FROM..HEADER_BYTES + length)?;
    if crc32c::crc32c(checked) != half(8) {
        return None;
    }
    let header = Header {
        log_id: word(16),
        epoch: word(24),
        supersedes_from: word(32),
        number: word(40),
        durable: word(48),
    };
    Some((header, &bytes[HEADER_BYTES..HEADER_BYTES + length]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::BLOCK_BYTES;

    const HEADER: Header = Header { log_id: 7, epoch: 3, supersedes_from: 40, number: 41, durable: 39 };

    #[test]
    fn record_reads_as_it_was_written() {
        let mut blocks = Blocks::default();
        for length in [0, 1, BLOCK_BYTES - HEADER_BYTES, BLOCK_BYTES, BODY_MAX_BYTES] {
            let body: Vec<u8> = (0..length).map(|at| (at % 251) as u8).collect();
            let record = encode(&HEADER, &body, &mut blocks);
            assert_eq!(record.len(), record_bytes(length));
            assert_eq!(decode(record), Some((HEADER, &body[..])));
        }
    }

    #[test]
    fn each_flipped_bit_of_header_or_body_is_noticed() {
        let mut blocks = Blocks::default();
        let record = encode(&HEADER, b"claims of a commit", &mut blocks).to_vec();
        let used = HEADER_BYTES + b"claims of a commit".len();
        for bit in 0..used * 8 {
            let mut damaged = record.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(decode(&damaged), None, "bit {bit}");
        }
    }

    #[test]
    fn truncated_and_foreign_bytes_are_no_record() {
        let mut blocks = Blocks::default();
        let record = encode(&HEADER, &[9; 5_000], &mut blocks).to_vec();
        for length in [0, 7, HEADER_BYTES - 1, HEADER_BYTES, BLOCK_BYTES] {
            assert_eq!(decode(&record[..length]), None, "{length} bytes");
        }
        assert_eq!(decode(&[0; BLOCK_BYTES]), None);
        assert_eq!(decode(&[0xff; BLOCK_BYTES]), None);
    }

    /// A record of version 1 as bytes: the format must stay readable.
    #[test]
    fn record_of_version_1_is_still_read() {
        let mut blocks = Blocks::default();
        let record = encode(&HEADER, b"abc", &mut blocks);
        let expected = "6d6277616c30303171bcdd13030000000700000000000000\
                        03000000000000002800000000000000290000000000000027000000\
                        00000000616263";
        let hex: String = record[..HEADER_BYTES + 3].iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, expected);
    }
}
