//! Search for one flipped bit.

/// Flips each bit of `bytes` in turn until `is_right`, and leaves that bit flipped. Returns whether there is
/// one; if not, `bytes` are as before.
pub(crate) fn flip_one(bytes: &mut [u8], is_right: impl Fn(&[u8]) -> bool) -> bool {
    for at in 0..bytes.len() {
        for bit in 0..8 {
            bytes[at] ^= 1 << bit;
            if is_right(bytes) {
                return true;
            }
            bytes[at] ^= 1 << bit;
        }
    }
    false
}

/// Returns the number of bits in which two values of the same length differ.
pub(crate) fn distance(a: &[u8], b: &[u8]) -> u32 {
    a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones()).sum()
}

/// Reads a big-endian number, as in SQLite's files. The bytes must be there.
pub(crate) fn be32(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// Reads a little-endian number, as in this crate's own files. The bytes must be there.
pub(crate) fn le32(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// Reads a little-endian number of 64 bits.
pub(crate) fn le64(bytes: &[u8], at: usize) -> u64 {
    u64::from(le32(bytes, at)) | u64::from(le32(bytes, at + 4)) << 32
}
