//! Follow relations between users.
//!
//! Reasons and figures: `storage/decisions/0012-likes-and-follows-as-rows.md`.

use async_trait::async_trait;

use crate::{Page, StoreError, Timestamp, UserId};

/// Number of the followee's latest notes that a new follow brings into the feed.
pub const FOLLOW_BACKFILL: u32 = 20;

/// Numbers of fans and followees of a user.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FollowCounts {
    /// Number of users who follow the user.
    pub fans: u64,
    /// Number of users followed by the user.
    pub followees: u64,
}

/// Follow relations in the database.
///
/// - A pair exists or not; a second follow keeps the time of the first. The service, not this port, checks
///   that both are users, and not the same.
/// - A follow brings the last twenty notes of the followee into the follower's feed (see
///   [`Feeds`](crate::Feeds)), and all later ones. Between imported users with imported follows, all notes
///   are in the feed.
/// - Every change is a transaction of its own, durable when the call returns and visible to the next read by
///   any caller.
/// - Lists are newest first, then highest id. If a list changes while a client pages through, a user may
///   appear twice or be missed.
/// - A count costs as much as the number counted (a million fans: some ten milliseconds), a page as much as
///   its offset.
#[async_trait]
pub trait Follows: Send + Sync {
    /// Follows `followee`. Returns `false` if already following.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn follow(&self, user: UserId, followee: UserId, now: Timestamp) -> Result<bool, StoreError>;

    /// Unfollows `followee`. Returns `false` if not following.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn unfollow(&self, user: UserId, followee: UserId) -> Result<bool, StoreError>;

    /// Returns whether `user` follows `followee`.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn is_following(&self, user: UserId, followee: UserId) -> Result<bool, StoreError>;

    /// Returns a page of the users followed by both, by id.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn common(&self, one: UserId, other: UserId, page: Page) -> Result<Vec<UserId>, StoreError>;

    /// Returns a page of a user's fans.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn fans(&self, followee: UserId, page: Page) -> Result<Vec<UserId>, StoreError>;

    /// Returns a page of the users that a user follows.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn followees(&self, user: UserId, page: Page) -> Result<Vec<UserId>, StoreError>;

    /// Returns the numbers of fans and followees.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn counts(&self, user: UserId) -> Result<FollowCounts, StoreError>;
}
