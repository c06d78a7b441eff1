//! Encoding of claims in the sled store.
//!
//! A commit consists of one or more parts. Key: commit (8 bytes, big-endian) and part (2). Value:
//! version (1), part (2), parts (2), claims in the part (2), then 32 bytes per claim (order, voucher, user,
//! milliseconds), then the CRC-32 of the key and of all preceding bytes. Numbers in the value are
//! little-endian. A commit is valid only with all of its parts.

use mallbox_storage::{Claim, OrderId, Timestamp, UserId, VoucherId};

const VERSION: u8 = 1;
const HEADER_BYTES: usize = 7;
/// Length of a claim in bytes.
pub(super) const CLAIM_BYTES: usize = 32;
const CHECKSUM_BYTES: usize = 4;
/// Upper bound on a value in bytes. sled moves nodes above 128 KiB (about 16 values) into separate files
/// and never makes the files durable; values below 4 KiB keep nodes from growing so large.
const VALUE_MAX_BYTES: usize = 4095;
/// Maximum number of claims in one part.
pub(crate) const PART_CLAIMS: usize = (VALUE_MAX_BYTES - HEADER_BYTES - CHECKSUM_BYTES) / CLAIM_BYTES;

/// A decoded part of a commit record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) commit: u64,
    pub(crate) part: u16,
    pub(crate) parts: u16,
    pub(crate) claims: Vec<Claim>,
}

pub(crate) fn key(commit: u64, part: u16) -> [u8; 10] {
    let mut key = [0; 10];
    key[..8].copy_from_slice(&commit.to_be_bytes());
    key[8..].copy_from_slice(&part.to_be_bytes());
    key
}

/// Returns the commit and the part that a key names.
pub(super) fn place(key: &[u8]) -> Option<(u64, u16)> {
    let (commit, part) = key.split_first_chunk()?;
    Some((u64::from_be_bytes(*commit), u16::from_be_bytes(part.try_into().ok()?)))
}

/// Returns the number of parts for `claims` claims: at least one, since an empty commit records that its
/// number is used.
pub(crate) fn parts(claims: usize) -> u16 {
    u16::try_from(claims.div_ceil(PART_CLAIMS).max(1)).expect("a commit is bounded far below 65,536 parts")
}

/// Encodes the parts of a commit, in order.
pub(crate) fn encode(commit: u64, claims: &[Claim]) -> impl Iterator<Item = ([u8; 10], Vec<u8>)> + '_ {
    let parts = parts(claims.len());
    (0..parts).map(move |part| {
        let first = usize::from(part) * PART_CLAIMS;
        let mine = &claims[first..claims.len().min(first + PART_CLAIMS)];
        encode_part(commit, part, parts, mine)
    })
}

/// Encodes one part as key and value.
pub(super) fn encode_part(commit: u64, part: u16, parts: u16, claims: &[Claim]) -> ([u8; 10], Vec<u8>) {
    let key = key(commit, part);
    let mut value = Vec::with_capacity(HEADER_BYTES + claims.len() * CLAIM_BYTES + CHECKSUM_BYTES);
    value.push(VERSION);
    value.extend(part.to_le_bytes());
    value.extend(parts.to_le_bytes());
    value.extend(u16::try_from(claims.len()).expect("a part holds 127 claims at the most").to_le_bytes());
    for claim in claims {
        value.extend(claim_bytes(claim));
    }
    value.extend(checksum(&key, &value).to_le_bytes());
    (key, value)
}

/// Decodes a part.
///
/// # Errors
/// Describes the mismatch of length, version, checksum or key.
pub(crate) fn decode(key: &[u8], value: &[u8]) -> Result<Part, &'static str> {
    let key: [u8; 10] = key.try_into().map_err(|_| "a key whose length is not 10 bytes")?;
    if value.first() != Some(&VERSION) {
        return Err("a record whose version is not 1");
    }
    if value.len() < HEADER_BYTES + CHECKSUM_BYTES {
        return Err("a truncated record");
    }
    let (content, sum) = value.split_at(value.len() - CHECKSUM_BYTES);
    if sum != checksum(&key, content).to_le_bytes() {
        return Err("a record with a wrong checksum");
    }
    let (head, body) = content.split_at(HEADER_BYTES);
    let count = usize::from(u16::from_le_bytes([head[5], head[6]]));
    let (claims, rest) = body.as_chunks::<CLAIM_BYTES>();
    if claims.len() != count || !rest.is_empty() {
        return Err("a record with a wrong length");
    }
    let [commit @ .., part_high, part_low] = key;
    let part = u16::from_be_bytes([part_high, part_low]);
    if part != u16::from_le_bytes([head[1], head[2]]) {
        return Err("a record under another part's key");
    }
    let parts = u16::from_le_bytes([head[3], head[4]]);
    if part >= parts {
        return Err("a record beyond the last part of its commit");
    }
    Ok(Part { commit: u64::from_be_bytes(commit), part, parts, claims: claims.iter().map(claim).collect() })
}

/// Encodes a claim: order, voucher, user, and milliseconds.
pub(super) fn claim_bytes(claim: &Claim) -> [u8; CLAIM_BYTES] {
    let numbers = [claim.order.get(), claim.voucher.get(), claim.user.get()].map(u64::to_le_bytes);
    let mut bytes = [0; CLAIM_BYTES];
    let (words, _) = bytes.as_chunks_mut();
    words[..3].copy_from_slice(&numbers);
    words[3] = claim.at.as_millis().to_le_bytes();
    bytes
}

/// Decodes a claim.
pub(super) fn claim(bytes: &[u8; CLAIM_BYTES]) -> Claim {
    let (numbers, _) = bytes.as_chunks::<8>();
    let number = |index: usize| u64::from_le_bytes(numbers[index]);
    Claim {
        order: OrderId::new(number(0)),
        voucher: VoucherId::new(number(1)),
        user: UserId::new(number(2)),
        at: Timestamp::from_millis(i64::from_le_bytes(numbers[3])),
    }
}

pub(super) fn checksum(key: &[u8; 10], content: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(key);
    hasher.update(content);
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claims(count: u64) -> Vec<Claim> {
        (0..count)
            .map(|n| Claim {
                order: OrderId::new(n << 40 | 7),
                voucher: VoucherId::new(n % 5),
                user: UserId::new(n * n),
                at: Timestamp::from_millis(-1 - i64::try_from(n).unwrap()),
            })
            .collect()
    }

    #[test]
    fn what_is_written_is_read_back() {
        for count in [0, 1, PART_CLAIMS as u64, PART_CLAIMS as u64 + 1, 1000] {
            let claims = claims(count);
            let parts: Vec<Part> =
                encode(9, &claims).map(|(key, value)| decode(&key, &value).unwrap()).collect();
            assert_eq!(parts.len(), usize::from(parts[0].parts));
            assert!(
                parts.iter().enumerate().all(|(n, part)| part.commit == 9 && usize::from(part.part) == n)
            );
            assert_eq!(parts.into_iter().flat_map(|part| part.claims).collect::<Vec<_>>(), claims);
        }
    }

    #[test]
    fn a_part_beyond_the_last_one_is_refused() {
        for (part, parts, is_one) in [(0, 1, true), (1, 2, true), (1, 1, false), (0, 0, false)] {
            let (key, value) = encode_part(7, part, parts, &claims(2));
            assert_eq!(decode(&key, &value).is_ok(), is_one, "part {part} of {parts}");
        }
    }

    #[test]
    fn values_stay_below_four_kib() {
        assert!(encode(1, &claims(5000)).all(|(_, value)| value.len() < 4096));
    }

    #[test]
    fn no_flipped_bit_and_no_cut_goes_unnoticed() {
        let claims = claims(3);
        let (key, value) = encode(1, &claims).next().unwrap();
        for bit in 0..value.len() * 8 {
            let mut spoilt = value.clone();
            spoilt[bit / 8] ^= 1 << (bit % 8);
            assert!(decode(&key, &spoilt).is_err(), "bit {bit}");
        }
        for length in 0..value.len() {
            assert!(decode(&key, &value[..length]).is_err(), "length {length}");
        }
        for bit in 0..key.len() * 8 {
            let mut spoilt = key;
            spoilt[bit / 8] ^= 1 << (bit % 8);
            assert!(decode(&spoilt, &value).is_err(), "key bit {bit}");
        }
    }
}
