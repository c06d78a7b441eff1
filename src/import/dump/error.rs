//! What is wrong with a dump, and where.

use std::fmt;

/// A place in the file, counted from 1; columns are bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Position {
    /// The line.
    pub line: u64,
    /// The byte in that line.
    pub column: u64,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// Why a file cannot be taken.
#[derive(Debug, thiserror::Error)]
pub enum DumpError {
    /// The file is not what it should be.
    #[error("{at}: {what}")]
    Bad {
        /// Where.
        at: Position,
        /// One sentence without a full stop.
        what: String,
    },
    /// The file as a whole is not what it should be.
    #[error("{0}")]
    NoDump(String),
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Io(#[from] std::io::Error),
}

impl DumpError {
    /// Something is wrong at this place.
    pub fn at(at: Position, what: impl Into<String>) -> Self {
        Self::Bad { at, what: what.into() }
    }
}
