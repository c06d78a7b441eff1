//! What is restored: a backup, and how far its stream.

use std::path::Path;
use std::str::FromStr;

use jiff::Timestamp;

use crate::backup::reader::Credentials;

/// A backup, and what opens it.
#[derive(Clone, Copy)]
pub(in crate::cli) struct Source<'a> {
    pub(in crate::cli) file: &'a Path,
    pub(in crate::cli) credentials: &'a Credentials,
    /// How far the stream beside the backup is restored; `None` if it is not.
    pub(in crate::cli) until: Option<Until>,
}

/// How far a stream is restored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::cli) enum Until {
    /// To its end.
    Latest,
    /// To the last point at or before this instant.
    Instant(Timestamp),
}

impl FromStr for Until {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "latest" {
            return Ok(Self::Latest);
        }
        let instant = text.parse().map(Self::Instant);
        instant.map_err(|_| "expected an instant with its time zone, such as 2026-11-30T12:00:00Z, or latest")
    }
}

impl Until {
    /// Returns whether a time, in ms since 1970, is later.
    pub(super) fn is_before(self, taken: i64) -> bool {
        match self {
            Self::Latest => false,
            Self::Instant(until) => until.as_millisecond() < taken,
        }
    }
}
