//! The ledger of votes as a whole: for the archive and for the ledger check.
//!
//! Reasons: `storage/decisions/0031-archive.md`.

use async_trait::async_trait;

use crate::{ReviewId, StoreError, Timestamp, VoteCursor, VoteLine};

/// The ledger of votes as stored with a review.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReviewVotes {
    /// The review.
    pub review: ReviewId,
    /// Sum of the votes.
    pub votes: u64,
    /// Number of the newest line.
    pub lines: u64,
    /// Number of the newest line that closed the votes; 0 without one.
    pub closed_line: u64,
}

/// Lines of votes in the table, across reviews.
///
/// - A line *decides nothing* once it is not the newest of its review, and is no vote that counts: superseded
///   by a later line of its voter, or by a line that closed the votes, or a vote taken back whose voter has
///   no older line in the table. Such a line decides nothing for ever.
/// - [`Votes`](crate::Votes) returns the same outcomes with and without lines that decide nothing.
#[async_trait]
pub trait VoteLines: Send + Sync {
    /// Returns the time of the oldest line at `since` or later.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn first_since(&self, since: Timestamp) -> Result<Option<Timestamp>, StoreError>;

    /// Returns up to `max` lines from `from` to before `until`, behind `after`: oldest first, then lowest
    /// review, then lowest number. `None` begins.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn between(
        &self,
        from: Timestamp,
        until: Timestamp,
        after: Option<VoteCursor>,
        max: u32,
    ) -> Result<Vec<VoteLine>, StoreError>;

    /// Returns up to `max` lines of the reviews up to `last`, by review and number, behind a review and
    /// number.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn of_reviews(
        &self,
        after: (ReviewId, u64),
        last: ReviewId,
        max: u32,
    ) -> Result<Vec<VoteLine>, StoreError>;

    /// Returns the lines of the given reviews and numbers that are in the table, in any order.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn at(&self, keys: &[(ReviewId, u64)]) -> Result<Vec<VoteLine>, StoreError>;

    /// Returns whether a line from `from` to before `until` decides nothing.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn has_idle(&self, from: Timestamp, until: Timestamp) -> Result<bool, StoreError>;

    /// Removes those of the given lines that decide nothing. Returns their number. A line that differs from
    /// the table stays. Idempotent.
    ///
    /// # Errors
    /// Any [`StoreError`]: some lines may be removed; call again.
    async fn remove_idle(&self, lines: &[VoteLine]) -> Result<u64, StoreError>;

    /// Returns up to `max` reviews with lines and an id above `after`, by id.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn sums(&self, after: ReviewId, max: u32) -> Result<Vec<ReviewVotes>, StoreError>;
}
