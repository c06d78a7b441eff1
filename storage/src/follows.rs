//! Who follows whom.

use async_trait::async_trait;

use crate::{Page, StoreError, Timestamp, UserId};

/// Notes of somebody that come into a feed with a follow.
pub(crate) const BROUGHT_IN: u32 = 20;

/// How many follow somebody, and how many they follow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FollowCounts {
    /// Who follow them.
    pub fans: u64,
    /// Whom they follow.
    pub followees: u64,
}

/// Follows: part of the record.
///
/// - A pair is there or not; following twice keeps the first time. Nobody is asked whether the two are users, or the same:
///   that is the service's.
/// - With a follow, the last twenty notes of the followee come into the feed of the one who follows (see
///   [`Feeds`](crate::Feeds)), and what they write from then on. What moved in with both comes whole.
/// - Every change is its own transaction and durable when it answers; the next read, by whomever, sees it.
/// - Lists are the newest first, of the same instant the higher id first. A list that changes while its pages are turned may
///   show one twice or leave one out.
/// - A count costs as much as there is to count (a million fans: some ten milliseconds); a page what stands before it.
#[async_trait]
pub trait Follows: Send + Sync {
    /// From now on. Answers whether that is new.
    ///
    /// # Errors
    /// [`StoreError`]: nothing changed, or the answer was lost; call again.
    async fn follow(&self, user: UserId, followee: UserId, now: Timestamp) -> Result<bool, StoreError>;

    /// Not any more. Answers whether they did.
    ///
    /// # Errors
    /// [`StoreError`]: nothing changed, or the answer was lost; call again.
    async fn unfollow(&self, user: UserId, followee: UserId) -> Result<bool, StoreError>;

    /// Whether `user` follows `followee`.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn is_following(&self, user: UserId, followee: UserId) -> Result<bool, StoreError>;

    /// Whom both follow, by id.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn common(&self, one: UserId, other: UserId, page: Page) -> Result<Vec<UserId>, StoreError>;

    /// Who follow somebody.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn fans(&self, followee: UserId, page: Page) -> Result<Vec<UserId>, StoreError>;

    /// Whom somebody follows.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn followees(&self, user: UserId, page: Page) -> Result<Vec<UserId>, StoreError>;

    /// How many, both ways.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn counts(&self, user: UserId) -> Result<FollowCounts, StoreError>;
}
