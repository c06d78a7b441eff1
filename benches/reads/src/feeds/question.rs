//! What is asked about a feed.

use serde::Serialize;

/// Verdicts on a question about a way, over all repetitions.
pub type FeedVerdict = mallbox_bench_verdicts::Verdict<FeedQuestion>;

/// A question about a feed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FeedQuestion {
    /// Number of an author's 30 earlier notes in the feed of a new fan.
    FollowedLate,
    /// Notes of an author in a feed after unfollowing.
    Unfollowed,
    /// Length of a page of ten after the deletion of its first three notes.
    Deleted,
    /// Feeds that show a note after the death of the writer between insert and first inbox.
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
