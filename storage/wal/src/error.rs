//! Errors of an open log.

use std::io;

/// A failed commit. The record does not count as written; its number is used again.
#[derive(Debug, thiserror::Error)]
pub enum WalError {
    /// A call of the medium failed. The record may be on the disk nevertheless.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A record is longer than [`RECORD_MAX_BYTES`](crate::RECORD_MAX_BYTES). Nothing was written.
    #[error("a record of {bytes} bytes is longer than {max} bytes")]
    TooLong {
        /// Length of the body in bytes.
        bytes: usize,
        /// Maximum length of a body in bytes.
        max: usize,
    },
}
