//! Votes: which users find a review helpful, with a ledger of every vote.
//!
//! Reasons: `storage/decisions/0028-votes-in-one-transaction.md`.

use std::time::Duration;

use async_trait::async_trait;

use crate::{ReviewId, ReviewState, StoreError, Timestamp, UserId};

/// Cause of a line in the ledger of a review's votes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VoteCause {
    /// The user took the vote back.
    Down,
    /// The user voted for the review.
    Up,
    /// The review counts no longer, and lost all its votes.
    Closed,
}

/// A line in the ledger of a review's votes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VoteLine {
    /// The review.
    pub review: ReviewId,
    /// Number among the lines of the review, from 1 without gaps.
    pub number: u64,
    /// The voter; `None` for [`VoteCause::Closed`].
    pub user: Option<UserId>,
    /// What happened.
    pub cause: VoteCause,
    /// Change of the sum.
    pub change: i64,
    /// Sum of the votes after the change.
    pub sum: u64,
    /// Time of the vote.
    pub at: Timestamp,
}

/// Place in the list of all ledgers' newest lines: the list goes on behind it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VoteCursor {
    /// Time of the last line listed.
    pub at: Timestamp,
    /// Its review.
    pub review: ReviewId,
    /// Its number.
    pub number: u64,
}

/// Outcome of a vote.
#[must_use]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VoteOutcome {
    /// The vote is as requested.
    Counted {
        /// Sum of the review's votes now.
        sum: u64,
        /// Number of the newest line of the review; 0 without one.
        number: u64,
        /// Whether this call changed the sum.
        changed: bool,
    },
    /// The review does not exist, or is visible to nobody.
    NoSuchReview,
    /// The review is folded, and accepts no votes.
    Folded,
    /// The voter wrote the review.
    OwnReview,
}

/// Time for which a voter sees the own vote. The sum keeps the vote.
pub const VOTE_MARK_TTL: Duration = Duration::from_secs(10 * 24 * 3600);

/// Votes in the database.
///
/// - A vote is one transaction that appends a line to the ledger and changes the sum, durable when the call
///   returns. The last line of user and review decides whether a vote changes anything: nobody counts twice,
///   however often and from wherever a call is repeated.
/// - The lines of a review are numbered from 1 without gaps, and each holds the sum after it: the newest
///   line has the review's sum ([`Review::votes`](crate::Review::votes)). Lines never change. Lines that
///   decide nothing may leave the table for the archive ([`VoteLines`](crate::VoteLines)).
/// - A *mark* shows a voter the own vote. It lasts [`VOTE_MARK_TTL`]; the vote lasts until taken back.
/// - A review that counts no longer gets one line [`VoteCause::Closed`], and loses its marks. Earlier votes
///   mean nothing afterwards: their users may vote again once it counts again.
/// - The existence of the user is checked by the service, not here.
#[async_trait]
pub trait Votes: Send + Sync {
    /// Votes for a review, or takes the vote back; idempotent. A repeated vote renews the mark.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn vote(
        &self,
        review: ReviewId,
        user: UserId,
        up: bool,
        now: Timestamp,
    ) -> Result<VoteOutcome, StoreError>;

    /// Returns the reviews of `among` that have a mark of the user, in the order of `among`, with one query.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn marked(
        &self,
        user: UserId,
        among: &[ReviewId],
        now: Timestamp,
    ) -> Result<Vec<ReviewId>, StoreError>;

    /// Returns up to `max` lines of a review in the table with a number below `below`, newest first; `None`
    /// begins. Archived lines leave gaps.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn lines(
        &self,
        review: ReviewId,
        below: Option<u64>,
        max: u32,
    ) -> Result<Vec<VoteLine>, StoreError>;

    /// Returns up to `max` lines of all reviews in the table behind `after`, newest first, then highest
    /// review, then highest number; `None` begins.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn newest_lines(&self, after: Option<VoteCursor>, max: u32) -> Result<Vec<VoteLine>, StoreError>;

    /// Removes up to `max` marks that are no longer shown. Returns their number.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn prune_marks(&self, now: Timestamp, max: u32) -> Result<u64, StoreError>;
}

/// The row of a review, as far as a vote depends on it. Lock it before reading the voter's last line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VotedReview {
    /// Author of the review.
    pub author: UserId,
    /// State of the review.
    pub state: ReviewState,
    /// Sum of the votes.
    pub votes: u64,
    /// Number of the newest line.
    pub lines: u64,
    /// Number of the newest line of cause [`VoteCause::Closed`]; 0 without one.
    pub closed_line: u64,
}

/// What a vote writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VotePlan {
    /// Nothing: the outcome.
    Refuse(VoteOutcome),
    /// Nothing but the mark: the vote is as requested.
    Keep,
    /// A line with this number, change and sum.
    Write {
        /// Number of the line.
        number: u64,
        /// Change of the sum: 1 or −1.
        change: i64,
        /// Sum after the change.
        sum: u64,
    },
}

impl VotedReview {
    /// Decides about a vote. `last` is the voter's last line: number and cause.
    #[must_use]
    pub fn plan(self, voter: UserId, last: Option<(u64, VoteCause)>, up: bool) -> VotePlan {
        if !self.state.visibility.is_seen() {
            return VotePlan::Refuse(VoteOutcome::NoSuchReview);
        }
        if self.state.is_folded {
            return VotePlan::Refuse(VoteOutcome::Folded);
        }
        if self.author == voter {
            return VotePlan::Refuse(VoteOutcome::OwnReview);
        }
        let counts = last.is_some_and(|(number, cause)| cause == VoteCause::Up && number > self.closed_line);
        if counts == up {
            return VotePlan::Keep;
        }
        // A sum changed behind the mall must not keep anybody from voting. The ledger check reports it.
        let change = if up { 1 } else { -1 };
        VotePlan::Write { number: self.lines + 1, change, sum: self.votes.saturating_add_signed(change) }
    }
}

impl VotedReview {
    /// Returns the line that takes all votes from the review; `None` if there are none.
    #[must_use]
    pub fn closing_line(self, review: ReviewId, now: Timestamp) -> Option<VoteLine> {
        (self.votes > 0).then(|| VoteLine {
            review,
            number: self.lines + 1,
            user: None,
            cause: VoteCause::Closed,
            change: -self.votes.cast_signed(),
            sum: 0,
            at: now,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Visibility;

    const ROW: VotedReview =
        VotedReview { author: UserId::new(1), state: ReviewState::SHOWN, votes: 3, lines: 8, closed_line: 4 };

    #[test]
    fn the_last_line_since_the_votes_were_closed_decides() {
        use VoteCause::{Down, Up};
        let voter = UserId::new(2);
        let up = VotePlan::Write { number: 9, change: 1, sum: 4 };
        let down = VotePlan::Write { number: 9, change: -1, sum: 2 };
        for (last, on_up, on_down) in [
            (None, up, VotePlan::Keep),
            (Some((5, Up)), VotePlan::Keep, down),
            (Some((5, Down)), up, VotePlan::Keep),
            (Some((3, Up)), up, VotePlan::Keep),
        ] {
            assert_eq!(ROW.plan(voter, last, true), on_up, "{last:?}");
            assert_eq!(ROW.plan(voter, last, false), on_down, "{last:?}");
        }
    }

    #[test]
    fn nobody_votes_for_the_own_review_or_for_one_that_does_not_count() {
        let (author, voter) = (ROW.author, UserId::new(2));
        assert_eq!(ROW.plan(author, None, true), VotePlan::Refuse(VoteOutcome::OwnReview));
        let folded = VotedReview { state: ReviewState { is_folded: true, ..ROW.state }, ..ROW };
        assert_eq!(folded.plan(voter, None, true), VotePlan::Refuse(VoteOutcome::Folded));
        for visibility in [Visibility::Hidden, Visibility::Deleted] {
            let unseen = VotedReview { state: ReviewState { visibility, ..ROW.state }, ..folded };
            assert_eq!(unseen.plan(author, None, true), VotePlan::Refuse(VoteOutcome::NoSuchReview));
        }
    }
}
