//! Memory in whole blocks, aligned as direct writes demand.

/// Unit of all writes to segments, in bytes: a page, and at least the physical sector of any common disk.
pub const BLOCK_BYTES: usize = 4096;

/// Rounds a length in bytes up to whole blocks.
pub(crate) fn padded(bytes: usize) -> usize {
    bytes.next_multiple_of(BLOCK_BYTES)
}

/// A reusable buffer whose contents start at a multiple of [`BLOCK_BYTES`] in memory.
#[derive(Default, Debug)]
pub(crate) struct Blocks {
    memory: Vec<u8>,
}

impl Blocks {
    /// Returns `bytes` zeros, padded to whole blocks.
    pub(crate) fn zeroed(&mut self, bytes: usize) -> &mut [u8] {
        let bytes = padded(bytes);
        let wanted = bytes + BLOCK_BYTES;
        if self.memory.len() < wanted {
            self.memory.resize(wanted, 0);
        }
        let from = self.memory.as_ptr().align_offset(BLOCK_BYTES);
        let blocks = &mut self.memory[from..from + bytes];
        blocks.fill(0);
        blocks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_whole_zeroed_and_aligned_however_often_they_grow() {
        let mut blocks = Blocks::default();
        for bytes in [1, BLOCK_BYTES, BLOCK_BYTES + 1, 40 * BLOCK_BYTES, 5] {
            let given = blocks.zeroed(bytes);
            assert_eq!(given.len(), bytes.div_ceil(BLOCK_BYTES) * BLOCK_BYTES);
            assert_eq!(given.as_ptr().addr() % BLOCK_BYTES, 0);
            assert!(given.iter().all(|byte| *byte == 0));
            given.fill(7);
        }
    }
}
