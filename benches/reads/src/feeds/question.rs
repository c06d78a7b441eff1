//! What is asked about a feed.

use serde::Serialize;

/// Verdicts on a question about a way, over all repetitions.
pub type FeedVerdict = mallbox_bench_verdicts::Verdict<FeedQuestion>;

/// A question about a feed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FeedQuestion {
    /// Which of an author's 30 notes a new fan sees.
    FollowedLate,
    /// What becomes of an author's notes in the feed of a reader who unfollows.
    Unfollowed,
    /// What a page of ten shows after its first three notes were deleted.
    Deleted,
    /// Who sees a note whose writer died after the insert and before the first inbox.
    WriterKilled,
}

impl FeedQuestion {
    /// Every question, in the order of asking.
    pub const ALL: [Self; 4] = [Self::FollowedLate, Self::Unfollowed, Self::Deleted, Self::WriterKilled];
}

impl mallbox_bench_verdicts::Question for FeedQuestion {
    fn words(self) -> &'static str {
        match self {
            Self::FollowedLate => "notes that a new fan sees",
            Self::Unfollowed => "notes after unfollowing",
            Self::Deleted => "page after deletions",
            Self::WriterKilled => "writer killed before the inboxes",
        }
    }
}
