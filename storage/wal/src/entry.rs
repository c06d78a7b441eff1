//! An entry of a segment as bytes: a header of 64 bytes, and one or more records, padded to whole blocks.
//! Numbers are little-endian.
//!
//! | bytes | content |
//! | --- | --- |
//! | 0-7 | `mbwal` and the version of the format, three digits |
//! | 8-11 | CRC-32C of the remaining header and the records |
//! | 12-15 | length of the records |
//! | 16-23 | id of the log |
//! | 24-31 | epoch of the segment |
//! | 32-39 | number of the epoch's first record |
//! | 40-47 | number of the entry's first record |
//! | 48-55 | number of records |
//! | 56-63 | highest number known to be durable when the entry was written |
//! | 64- | each record: its length in four bytes, and its body |

use super::blocks::{Blocks, padded};

const MAGIC: &[u8; 8] = b"mbwal001";
/// Length of a header in bytes.
const HEADER_BYTES: usize = 64;
/// Offset from which the checksum counts.
const CHECKED_FROM: usize = 12;
/// Length of a body's length in bytes.
const LENGTH_BYTES: usize = 4;

/// The header of an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Header {
    pub(crate) log_id: u64,
    pub(crate) epoch: u64,
    /// Number of the epoch's first record.
    pub(crate) epoch_first: u64,
    /// Number of the entry's first record.
    pub(crate) first: u64,
    /// The highest number known to be durable when the entry was written.
    pub(crate) durable: u64,
}

/// Returns the space of an entry with these bodies in a segment, in bytes.
pub(crate) fn entry_bytes(bodies: &[&[u8]]) -> usize {
    padded(HEADER_BYTES + records_bytes(bodies))
}

fn records_bytes(bodies: &[&[u8]]) -> usize {
    bodies.iter().map(|body| LENGTH_BYTES + body.len()).sum()
}

/// Encodes an entry in whole blocks.
pub(crate) fn encode<'a>(header: &Header, bodies: &[&[u8]], blocks: &'a mut Blocks) -> &'a [u8] {
    let length = records_bytes(bodies);
    let end = HEADER_BYTES + length;
    let entry = blocks.zeroed(end);
    entry[..8].copy_from_slice(MAGIC);
    entry[12..16].copy_from_slice(&length_of(length).to_le_bytes());
    let count = bodies.len() as u64;
    let words = [header.log_id, header.epoch, header.epoch_first, header.first, count, header.durable];
    for (word, at) in words.iter().zip((16..).step_by(8)) {
        entry[at..at + 8].copy_from_slice(&word.to_le_bytes());
    }
    let mut at = HEADER_BYTES;
    for body in bodies {
        entry[at..at + LENGTH_BYTES].copy_from_slice(&length_of(body.len()).to_le_bytes());
        at += LENGTH_BYTES;
        entry[at..at + body.len()].copy_from_slice(body);
        at += body.len();
    }
    let checksum = crc32c::crc32c(&entry[CHECKED_FROM..end]);
    entry[8..12].copy_from_slice(&checksum.to_le_bytes());
    entry
}

fn length_of(bytes: usize) -> u32 {
    u32::try_from(bytes).expect("records are shorter than 4 GiB")
}

/// Decodes the entry at the start of `bytes`. `None` if there is no whole entry.
pub(crate) fn decode(bytes: &[u8]) -> Option<(Header, Vec<&[u8]>)> {
    if bytes.len() < HEADER_BYTES || bytes[..8] != *MAGIC {
        return None;
    }
    let half = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
    let end = HEADER_BYTES.checked_add(usize::try_from(half(12)).ok()?)?;
    if crc32c::crc32c(bytes.get(CHECKED_FROM..end)?) != half(8) {
        return None;
    }
    let (mut bodies, mut rest) = (Vec::new(), &bytes[HEADER_BYTES..end]);
    while let Some((length, behind)) = rest.split_first_chunk() {
        let (body, behind) = behind.split_at_checked(usize::try_from(u32::from_le_bytes(*length)).ok()?)?;
        bodies.push(body);
        rest = behind;
    }
    let header = Header {
        log_id: word(16),
        epoch: word(24),
        epoch_first: word(32),
        first: word(40),
        durable: word(56),
    };
    (rest.is_empty() && word(48) == bodies.len() as u64).then_some((header, bodies))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::BLOCK_BYTES;

    const HEADER: Header = Header { log_id: 7, epoch: 3, epoch_first: 38, first: 41, durable: 39 };

    #[test]
    fn entry_reads_as_it_was_written() {
        let mut blocks = Blocks::default();
        let long = vec![9; 3 * BLOCK_BYTES];
        for length in [0, 1, BLOCK_BYTES - HEADER_BYTES - LENGTH_BYTES, BLOCK_BYTES, 1 << 20] {
            let body: Vec<u8> = (0..=250).cycle().take(length).collect();
            for bodies in [vec![&body[..]], vec![&body[..], &[], &long[..]]] {
                let entry = encode(&HEADER, &bodies, &mut blocks);
                assert_eq!(entry.len(), entry_bytes(&bodies));
                assert_eq!(decode(entry), Some((HEADER, bodies)));
            }
        }
    }

    #[test]
    fn each_flipped_bit_of_an_entry_is_noticed() {
        let mut blocks = Blocks::default();
        let entry = encode(&HEADER, &[b"claims of a commit"], &mut blocks).to_vec();
        let used = HEADER_BYTES + LENGTH_BYTES + b"claims of a commit".len();
        for bit in 0..used * 8 {
            let mut damaged = entry.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(decode(&damaged), None, "bit {bit}");
        }
    }

    #[test]
    fn truncated_and_foreign_bytes_are_no_entry() {
        let mut blocks = Blocks::default();
        let entry = encode(&HEADER, &[&[9; 5_000]], &mut blocks).to_vec();
        for length in [0, 7, HEADER_BYTES - 1, HEADER_BYTES, BLOCK_BYTES] {
            assert_eq!(decode(&entry[..length]), None, "{length} bytes");
        }
        assert_eq!(decode(&[0; BLOCK_BYTES]), None);
        assert_eq!(decode(&[0xff; BLOCK_BYTES]), None);
    }

    /// An entry of version 1 as bytes: the format must stay readable.
    #[test]
    fn entry_of_version_1_is_still_read() {
        let mut blocks = Blocks::default();
        let entry = encode(&HEADER, &[b"abc"], &mut blocks);
        let expected = "6d6277616c303031a8a28c3007000000070000000000000003000000000000002600000000000000\
                        29000000000000000100000000000000270000000000000003000000616263";
        let hex: String = entry[..HEADER_BYTES + 7].iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, expected);
    }
}
