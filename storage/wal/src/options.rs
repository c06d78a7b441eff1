//! Sizes of a log.

/// Sizes of a log. Both may differ from one start to the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Length of a new segment in bytes; a multiple of [`BLOCK_BYTES`](crate::BLOCK_BYTES). A longer record
    /// gets a segment of its own length, which is not reused.
    pub segment_bytes: u64,
    /// Number of unused segments kept for reuse; others are removed.
    pub spare_segments: usize,
}
