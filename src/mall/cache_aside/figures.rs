//! What is counted about copies of one kind.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What became of a question, or what was done for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Counted {
    /// Answered by what all instances share.
    Hit,
    /// Answered by this process' own memory.
    NearHit,
    /// Not answered by either.
    Miss,
    /// Of the hits: that there is nothing.
    Absent,
    /// Of the hits: with something that is being rebuilt.
    Stale,
    /// The record was read.
    Rebuild,
    /// Answered by the filter of ids: there is nothing.
    Filtered,
    /// Somebody was turned away, or something stale was not rebuilt: the record is slow, or too many wait.
    Shed,
}

impl Counted {
    /// All of them, with their names in `/metrics`.
    pub const ALL: [(Self, &'static str); 8] = [
        (Self::Hit, "hit"),
        (Self::NearHit, "near_hit"),
        (Self::Miss, "miss"),
        (Self::Absent, "absent"),
        (Self::Stale, "stale"),
        (Self::Rebuild, "rebuild"),
        (Self::Filtered, "filtered"),
        (Self::Shed, "shed"),
    ];
}

/// Counts since the start.
#[derive(Debug)]
pub struct CacheFigures {
    kind: &'static str,
    counts: [AtomicU64; Counted::ALL.len()],
}

impl CacheFigures {
    /// Of copies of this kind.
    #[must_use]
    pub fn new(kind: &'static str) -> Self {
        Self { kind, counts: Default::default() }
    }

    /// Of which kind.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// How often.
    #[must_use]
    pub fn of(&self, what: Counted) -> u64 {
        self.counts[what as usize].load(Relaxed)
    }

    pub(in crate::mall) fn count(&self, what: Counted) {
        self.counts[what as usize].fetch_add(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_stand_where_their_number_says() {
        for (at, (what, _)) in Counted::ALL.iter().enumerate() {
            assert_eq!(*what as usize, at);
        }
    }
}
