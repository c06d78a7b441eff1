//! Why a mall on servers is not copied or restored.

use std::io;

use mallbox_storage::{OpenError, StoreError};
use thiserror::Error;

/// Why a mall on servers is not copied or restored.
#[derive(Debug, Error)]
pub enum CopyError {
    /// A server cannot be used.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// A server failed in the middle.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The copy cannot be written or read.
    #[error("cannot write or read the copy")]
    Io(#[from] io::Error),
    /// A line of a copied table is none; line 0 for a table that is missing.
    #[error("line {line} of table {table:?} is none of this schema")]
    Input {
        /// Name of the table; empty if its first line does not tell.
        table: String,
        /// Number of the line, from 1.
        line: u64,
    },
}
