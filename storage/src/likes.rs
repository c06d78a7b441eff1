//! Likes of notes and comments.
//!
//! Reasons and figures: `storage/decisions/0012-likes-and-follows-as-rows.md`.

use async_trait::async_trait;

use crate::{Page, Post, StoreError, Timestamp, UserId};

/// Requested change of a user's like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LikeChange {
    /// Add the like; idempotent.
    Like,
    /// Remove the like; idempotent.
    Unlike,
    /// Like if not liked, otherwise remove the like.
    Toggle,
}

impl LikeChange {
    /// Returns whether the user likes the post after the change.
    pub fn after(self, likes: bool) -> bool {
        match self {
            Self::Like => true,
            Self::Unlike => false,
            Self::Toggle => !likes,
        }
    }
}

/// Outcome of a change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LikeOutcome {
    /// Whether the user likes the post now.
    pub likes: bool,
    /// Total number of likes, imported ones included.
    pub count: u64,
}

/// Likes in the database.
///
/// - A user likes a post at most once. The like count of a note or comment is exactly the number of like rows
///   plus the imported count, under any concurrency: a like and its count change in one transaction, durable
///   when the call returns.
/// - Only visible posts can be liked or unliked, not hidden or deleted ones. Earlier likes remain. Reviews
///   have votes instead, and no likes.
/// - The existence of the user is checked by the service, not here.
#[async_trait]
pub trait Likes: Send + Sync {
    /// Changes one user's like. `None` if the post does not exist or is not visible.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost. Call again, but read the like first if
    /// the change was a toggle.
    async fn change(
        &self,
        user: UserId,
        what: Post,
        change: LikeChange,
        now: Timestamp,
    ) -> Result<Option<LikeOutcome>, StoreError>;

    /// Returns a page of the users who like a post, earliest like first, then lowest id.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn likers(&self, what: Post, page: Page) -> Result<Vec<UserId>, StoreError>;

    /// Returns the posts of `among` that a user likes, in the order of `among`, with one query.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn liked(&self, user: UserId, among: &[Post]) -> Result<Vec<Post>, StoreError>;

    /// Recounts likes in one snapshot, and returns the number of notes and comments with a wrong like count.
    /// Not 0 only after a bug or damage.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn miscounted(&self) -> Result<u64, StoreError>;
}
