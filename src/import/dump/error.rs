//! Errors in a dump, with positions.

use std::error::Error;
use std::{fmt, io};

use crate::language::{Bilingual, BilingualText, Language, sentence};

/// A position in the file, counted from 1; columns are bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Position {
    /// Line number, from 1.
    pub line: u64,
    /// Byte within the line, from 1.
    pub column: u64,
}

impl Position {
    /// Returns the position as text, for people.
    #[must_use]
    pub fn words(self, l: Language) -> String {
        let Self { line, column } = self;
        sentence!(l, "第{line}行第{column}列", "line {line}, column {column}")
    }
}

/// English text, for tests and benches.
impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words(Language::En))
    }
}

/// Reason why a file cannot be imported.
#[derive(Debug)]
pub enum DumpError {
    /// The file is invalid at some position.
    Bad {
        /// Position of the fault.
        at: Position,
        /// One sentence without a full stop.
        what: BilingualText,
    },
    /// The file ends inside a statement, text or comment.
    Cut {
        /// Start of the incomplete part.
        at: Position,
        /// One sentence without a full stop.
        what: Bilingual,
    },
    /// The file is not a dump, or not a usable one, as a whole.
    NoDump(Bilingual),
    /// The file cannot be read.
    Io(io::Error),
}

impl DumpError {
    /// Creates an error for an invalid position.
    pub fn at(at: Position, what: impl Into<BilingualText>) -> Self {
        Self::Bad { at, what: what.into() }
    }

    /// Creates an error for a file truncated inside the part that starts at `at`.
    pub(super) fn cut(at: Position, what: Bilingual) -> Self {
        Self::Cut { at, what }
    }

    /// Returns the error as text, for people.
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

/// English text; users see [`DumpError::words`].
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
