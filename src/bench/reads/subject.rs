//! What is compared.

use mallbox_bench_ports::Effort;
use mallbox_bench_reads::{Way, caches, feeds};

/// What is compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReadsSubject {
    /// Ways to assemble feeds.
    Feeds,
    /// Ways to cache reads.
    Caches,
}

impl ReadsSubject {
    /// Returns the name of the command, which is the kind of the result.
    pub(super) fn command(self) -> &'static str {
        match self {
            Self::Feeds => "feed",
            Self::Caches => "cache",
        }
    }

    /// Returns the ways, in the order of the tables.
    #[must_use]
    pub fn ways(self) -> &'static [Way] {
        match self {
            Self::Feeds => feeds::WAYS,
            Self::Caches => caches::WAYS,
        }
    }

    /// Returns the number of steps of a way.
    pub(super) fn steps(self, effort: Effort, repeat: usize) -> usize {
        match self {
            Self::Feeds => feeds::steps(effort, repeat),
            Self::Caches => caches::steps(repeat),
        }
    }

    /// Returns the name of the section in the published file.
    pub(super) fn section(self) -> &'static str {
        match self {
            Self::Feeds => "feeds",
            Self::Caches => "caches",
        }
    }
}
