//! The back ends that a bench runs on, and numbers from flags.

use clap::ValueEnum;

/// Storage of a benched mall.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum On {
    /// In a directory.
    Directory,
    /// On Redis and MySQL.
    Servers,
    /// Alternately in a directory and on servers.
    Both,
}

/// Converts to `usize`, capped at `usize::MAX`.
pub(super) fn count(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
