//! What is wrong with a dump, and where.

use std::error::Error;
use std::{fmt, io};

use crate::language::{Both, Language, Told, sentence};

/// A place in the file, counted from 1; columns are bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Position {
    /// The line.
    pub line: u64,
    /// The byte in that line.
    pub column: u64,
}

impl Position {
    /// For people.
    #[must_use]
    pub fn words(self, l: Language) -> String {
        let Self { line, column } = self;
        sentence!(l, "第{line}行第{column}列", "line {line}, column {column}")
    }
}

/// In English, for tests and benches.
impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words(Language::En))
    }
}

/// Why a file cannot be taken.
#[derive(Debug)]
pub enum DumpError {
    /// The file is not what it should be.
    Bad {
        /// Where.
        at: Position,
        /// One sentence without a full stop.
        what: Told,
    },
    /// The file ends inside something that began before.
    Cut {
        /// Where that begins.
        at: Position,
        /// One sentence without a full stop.
        what: Both,
    },
    /// The file as a whole is not what it should be.
    NoDump(Both),
    /// The file cannot be read.
    Io(io::Error),
}

impl DumpError {
    /// Something is wrong at this place.
    pub fn at(at: Position, what: impl Into<Told>) -> Self {
        Self::Bad { at, what: what.into() }
    }

    /// The file ends inside what begins at this place.
    pub(super) fn cut(at: Position, what: Both) -> Self {
        Self::Cut { at, what }
    }

    /// For people.
    #[must_use]
    pub fn words(&self, l: Language) -> String {
        match self {
            Self::Bad { at, what } => {
                let (at, what) = (at.words(l), what.spoken(l));
                sentence!(l, "{at}：{what}", "{at}: {what}")
            }
            Self::Cut { at, what } => {
                let (at, what) = (at.words(l), what.spoken(l));
                sentence!(l, "{at}：{what}", "{at}: {what}")
            }
            Self::NoDump(what) => what.spoken(l).to_owned(),
            Self::Io(_) => sentence!(l, "无法读取", "cannot be read"),
        }
    }
}

/// In English; people are told [`DumpError::words`].
impl fmt::Display for DumpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words(Language::En))
    }
}

impl Error for DumpError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::Bad { .. } | Self::Cut { .. } | Self::NoDump(_) => None,
        }
    }
}

impl From<io::Error> for DumpError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
