//! Contents of a file in blocks, which copies share.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// Unit in which the kernel writes data back, in bytes.
pub const BLOCK_BYTES: usize = 4_096;
/// Unit that a disk writes at once, in bytes.
pub const SECTOR_BYTES: usize = 512;

const ZEROS: [u8; BLOCK_BYTES] = [0; BLOCK_BYTES];

/// A block that is not all zeros.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) bytes: [u8; BLOCK_BYTES],
    hash: u64,
}

/// A block; `None` for zeros.
pub(crate) type Shared = Option<Arc<Block>>;

/// Makes a block of bytes.
pub(crate) fn share(bytes: [u8; BLOCK_BYTES]) -> Shared {
    if bytes == ZEROS {
        return None;
    }
    let mut hasher = DefaultHasher::new();
    hasher.write(&bytes);
    Some(Arc::new(Block { bytes, hash: hasher.finish() }))
}

/// Returns whether two blocks have equal bytes.
pub(crate) fn is_same(one: &Shared, other: &Shared) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => one.hash == other.hash && one.bytes == other.bytes,
        (one, other) => one.is_none() && other.is_none(),
    }
}

/// Returns the bytes of a block.
pub(crate) fn bytes_of(block: &Shared) -> &[u8; BLOCK_BYTES] {
    block.as_ref().map_or(&ZEROS, |block| &block.bytes)
}

/// Contents of a file. Copies share their blocks.
#[derive(Clone, Default, Debug)]
pub struct Contents {
    /// The bytes behind the length are zeros.
    blocks: Vec<Shared>,
    length: u64,
}

impl Contents {
    /// Makes contents of bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        let mut contents = Self::default();
        contents.write(0, bytes);
        contents
    }

    /// Returns the length in bytes.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Returns up to `length` bytes from an offset.
    #[must_use]
    pub fn read(&self, offset: u64, length: usize) -> Vec<u8> {
        let end = self.length.min(offset.saturating_add(length as u64));
        let mut bytes = Vec::with_capacity(length);
        let mut at = offset;
        while at < end {
            let (block, within) = place(at);
            let count = usize::try_from(end - at).map_or(BLOCK_BYTES, |left| left.min(BLOCK_BYTES - within));
            bytes.extend_from_slice(&bytes_of(self.block(block))[within..within + count]);
            at += count as u64;
        }
        bytes
    }

    /// Returns the whole contents.
    #[must_use]
    pub fn to_vec(&self) -> Vec<u8> {
        self.read(0, self.blocks.len() * BLOCK_BYTES)
    }

    /// Writes bytes, and extends the contents if necessary. Returns the range of blocks touched.
    pub(crate) fn write(&mut self, offset: u64, bytes: &[u8]) -> std::ops::Range<usize> {
        if bytes.is_empty() {
            return 0..0;
        }
        let end = offset + bytes.len() as u64;
        self.resize(self.length.max(end));
        let (first, _) = place(offset);
        let mut left = bytes;
        let mut at = offset;
        while !left.is_empty() {
            let (block, within) = place(at);
            let (now, later) = left.split_at(left.len().min(BLOCK_BYTES - within));
            let mut whole = *bytes_of(&self.blocks[block]);
            whole[within..within + now.len()].copy_from_slice(now);
            self.blocks[block] = share(whole);
            at += now.len() as u64;
            left = later;
        }
        first..place(end - 1).0 + 1
    }

    /// Cuts the contents off, or extends them with zeros.
    pub(crate) fn resize(&mut self, length: u64) {
        if length < self.length {
            let (last, within) = place(length);
            if let Some(block) = self.blocks.get_mut(last) {
                *block = cut_block(block, within);
            }
        }
        let blocks = usize::try_from(length.div_ceil(BLOCK_BYTES as u64)).expect("fits into memory");
        self.blocks.resize(blocks, None);
        self.length = length;
    }

    /// Returns a block; zeros behind the end.
    pub(crate) fn block(&self, index: usize) -> &Shared {
        self.blocks.get(index).unwrap_or(&None)
    }

    /// Returns all blocks.
    pub(crate) fn blocks(&self) -> &[Shared] {
        &self.blocks
    }

    /// Replaces a block, and extends the contents to include it.
    pub(crate) fn put_block(&mut self, index: usize, block: Shared) {
        if index >= self.blocks.len() {
            self.resize(((index + 1) * BLOCK_BYTES) as u64);
        }
        self.blocks[index] = block;
    }
}

impl Hash for Contents {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.length);
        for (index, block) in self.blocks.iter().enumerate() {
            if let Some(block) = block {
                state.write_usize(index);
                state.write_u64(block.hash);
            }
        }
    }
}

impl PartialEq for Contents {
    fn eq(&self, other: &Self) -> bool {
        self.length == other.length
            && self.blocks.iter().zip(&other.blocks).all(|(one, other)| is_same(one, other))
    }
}

impl Eq for Contents {}

/// Returns a block whose bytes from `within` are zeros.
pub(crate) fn cut_block(block: &Shared, within: usize) -> Shared {
    let mut bytes = *bytes_of(block);
    bytes[within..].fill(0);
    share(bytes)
}

/// Returns the block of an offset, and the offset in the block.
pub(crate) fn place(offset: u64) -> (usize, usize) {
    let offset = usize::try_from(offset).expect("fits into memory");
    (offset / BLOCK_BYTES, offset % BLOCK_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_are_a_vector_of_bytes() {
        let (mut contents, mut plain) = (Contents::default(), Vec::new());
        for (offset, byte, count) in [(3, 1, 5), (4_090, 2, 9_000), (20_000, 3, 1), (4_095, 4, 2)] {
            contents.write(offset as u64, &vec![byte; count]);
            plain.resize(plain.len().max(offset + count), 0);
            plain[offset..offset + count].fill(byte);
            assert_eq!(contents.to_vec(), plain);
        }
        for length in [13_000, 4_097, 8_192, 8_193, 0, 5] {
            contents.resize(length as u64);
            plain.resize(length, 0);
            assert_eq!(contents.to_vec(), plain);
        }
        assert_eq!(contents.read(3, 100), [0, 0]);
        assert!(Contents::of(&[0; 5]) == contents && Contents::of(&[0; 6]) != contents);
    }
}
