//! The personal data of one user: reading all of it, and the deletion of the account.

use async_trait::async_trait;

use crate::{
    Comment, CommentId, Note, NoteId, Post, Review, ReviewId, StoreError, Timestamp, UserId, VoteLine,
};

/// A like that a user gave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GivenLike {
    /// The note or comment liked.
    pub what: Post,
    /// Time of the like.
    pub at: Timestamp,
}

/// Treatment of paid, unused orders by a deletion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PaidOrders {
    /// Refuse the deletion.
    Keep,
    /// Delete the account all the same; the orders stay paid, and nobody can use them.
    Forfeit,
}

/// Outcome of a deletion.
#[must_use]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DeleteOutcome {
    /// The account is deleted, by this call or an earlier one.
    Deleted,
    /// The user does not exist.
    NoSuchUser,
    /// Nothing changed: no unblocked operator would have been left.
    LastOperator,
    /// Nothing changed: the user has unpaid orders, to be cancelled first.
    HasUnpaid,
    /// Nothing changed: the user has this number of paid, unused orders.
    HasPaid(u64),
}

/// The personal data of one user, in the database.
///
/// - Lists are in ascending order; `after` is the last item of the previous call, and `max` bounds the
///   result. Deleted notes, comments and reviews are left out, hidden ones are included.
/// - A deleted user keeps the id, the time of registration, credits and level, orders, notes, comments,
///   likes, reviews, votes and sign-ins. Phone, name, avatar, password, role, block, second factor, profile
///   and follows in both directions are erased, and places in waiting lists given up, in one transaction,
///   durable when the call returns. The phone
///   is free for a new account.
#[async_trait]
pub trait PersonalData: Send + Sync {
    /// Returns notes of a user, by id.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn notes(&self, user: UserId, after: NoteId, max: u32) -> Result<Vec<Note>, StoreError>;

    /// Returns comments of a user, by id.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn comments(&self, user: UserId, after: CommentId, max: u32) -> Result<Vec<Comment>, StoreError>;

    /// Returns likes of a user: notes before comments, each by id. `None` begins.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn likes(&self, user: UserId, after: Option<Post>, max: u32) -> Result<Vec<GivenLike>, StoreError>;

    /// Returns reviews of a user, by id.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn reviews(&self, user: UserId, after: ReviewId, max: u32) -> Result<Vec<Review>, StoreError>;

    /// Returns lines of a user's votes in the table, by review and number. `None` begins. Archived lines are
    /// not among them ([`ArchivedVotes`](crate::ArchivedVotes)).
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn vote_lines(
        &self,
        user: UserId,
        after: Option<(ReviewId, u64)>,
        max: u32,
    ) -> Result<Vec<VoteLine>, StoreError>;

    /// Deletes the account of a user, unless orders are open. Idempotent.
    ///
    /// Atomic: of a deletion and concurrent purchases ([`Orders::insert`](crate::Orders::insert)) of the
    /// user, each purchase either is seen by the deletion or is refused. Claims of flash sales are not
    /// excluded: the caller ends the sessions, and cancels claims that were under way.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn delete(
        &self,
        user: UserId,
        paid: PaidOrders,
        now: Timestamp,
    ) -> Result<DeleteOutcome, StoreError>;

    /// Returns up to `max` users deleted at `since` or later with an id above `after`, by id.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn deleted(&self, since: Timestamp, after: UserId, max: u32) -> Result<Vec<UserId>, StoreError>;
}
