//! Sizes of a log.

use super::entry;

/// Sizes of a log. Both may differ from one start to the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Length of a new segment in bytes; a multiple of [`BLOCK_BYTES`](crate::BLOCK_BYTES).
    pub segment_bytes: u64,
    /// Number of unused segments kept for reuse; others are removed.
    pub spare_segments: usize,
}

impl Options {
    /// Returns the maximum length of a record in bytes.
    #[must_use]
    pub fn record_max_bytes(self) -> usize {
        entry::body_max_bytes(usize::try_from(self.segment_bytes).unwrap_or(usize::MAX))
    }
}
