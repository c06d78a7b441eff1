//! Errors of backup and restore on servers.

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
    /// A table of the schema is missing in the copy.
    #[error("table {0} is missing")]
    MissingTable(String),
    /// A line of a copied table does not match the schema.
    #[error("line {line} of table {table:?} does not match the schema")]
    Input {
        /// Name of the table; empty if its first line does not tell.
        table: String,
        /// Number of the line, from 1.
        line: u64,
    },
}
