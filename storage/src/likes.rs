//! Who likes what.

use async_trait::async_trait;

use crate::{Page, Post, StoreError, Timestamp, UserId};

/// What somebody wants of their like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LikeChange {
    /// To like it; a repeat changes nothing.
    Like,
    /// To take that back; a repeat changes nothing.
    Unlike,
    /// The other of the two.
    Toggle,
}

impl LikeChange {
    /// Whether they like it afterwards.
    pub(crate) fn after(self, likes: bool) -> bool {
        match self {
            Self::Like => true,
            Self::Unlike => false,
            Self::Toggle => !likes,
        }
    }
}

/// What a change came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Liked {
    /// Whether they like it now.
    pub likes: bool,
    /// How many like it, those included that it came with from elsewhere.
    pub count: u64,
}

/// Likes: part of the record.
///
/// - One person likes a thing once or not at all; the count of a note or comment is its rows, and what it came with, exactly,
///   however many change it at the same moment: a like and its count are one transaction, durable when it answers.
/// - Only what can be seen is liked or unliked: not what is hidden or deleted. Who liked it before still does.
/// - Nobody is asked whether the user is one: that is the service's.
#[async_trait]
pub trait Likes: Send + Sync {
    /// Changes one person's like. `None` for what is not there to be seen.
    ///
    /// # Errors
    /// [`StoreError`]: nothing changed, or the answer was lost; call again, unless to toggle: look first.
    async fn change(
        &self,
        user: UserId,
        what: Post,
        change: LikeChange,
        now: Timestamp,
    ) -> Result<Option<Liked>, StoreError>;

    /// Who like it, the first to like it first; of the same instant the lower id.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn likers(&self, what: Post, page: Page) -> Result<Vec<UserId>, StoreError>;

    /// Those of `among` that a user likes, in the order of `among`, in one look.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn liked(&self, user: UserId, among: &[Post]) -> Result<Vec<Post>, StoreError>;

    /// How many notes and comments keep another count than their likes make, all counted anew at one instant: none, unless
    /// something is wrong.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn miscounted(&self) -> Result<u64, StoreError>;
}
