//! Errors of an open log.

use std::io;

/// A failed write of records. None of the group's records counts as written; their numbers are used again.
#[derive(Debug, thiserror::Error)]
pub enum WalError {
    /// A call of the medium failed. The records may be on the disk nevertheless.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A record does not fit into a segment. Nothing was written.
    #[error("a record of {bytes} bytes is longer than {max} bytes")]
    TooLong {
        /// Length of the body in bytes.
        bytes: usize,
        /// Maximum length of a body in bytes.
        max: usize,
    },
}

impl WalError {
    /// Returns whether there was no space for a new segment or for the blocks of a write.
    #[must_use]
    pub fn is_full(&self) -> bool {
        let kind = match self {
            Self::Io(error) => error.kind(),
            Self::TooLong { .. } => return false,
        };
        matches!(kind, io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
    }
}
