//! Who likes what.

use std::collections::HashSet;

use mallbox_storage::{CommentId, Likable, LikeChange, Liked, NoteId, Page, Timestamp, UserId};

use super::accounts::Brief;
use super::{Context, Failure, Refusal};

/// Of those who like a note, so many are shown.
const FIRST: u32 = 5;

/// Keeps who likes what.
pub struct LikeBook {
    context: Context,
}

impl LikeBook {
    /// Of this mall.
    #[must_use]
    pub fn new(context: Context) -> Self {
        Self { context }
    }

    /// Likes a note, or takes that back.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] for one that nobody sees.
    pub async fn toggle_note(&self, user: UserId, note: NoteId, now: Timestamp) -> Result<Liked, Failure> {
        let liked = self.toggle(user, Likable::Note(note), now).await?;
        Ok(liked.ok_or(Refusal::NotFound("note"))?)
    }

    /// Likes a comment, or takes that back.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] for one that nobody sees.
    pub async fn toggle_comment(
        &self,
        user: UserId,
        comment: CommentId,
        now: Timestamp,
    ) -> Result<Liked, Failure> {
        let liked = self.toggle(user, Likable::Comment(comment), now).await?;
        Ok(liked.ok_or(Refusal::NotFound("comment"))?)
    }

    async fn toggle(&self, user: UserId, what: Likable, now: Timestamp) -> Result<Option<Liked>, Failure> {
        Ok(self.context.storage.likes.change(user, what, LikeChange::Toggle, now).await?)
    }

    /// The first five who liked a note, in that order.
    ///
    /// # Errors
    /// Only if the store is in trouble.
    pub async fn first_likers(&self, note: NoteId) -> Result<Vec<Brief>, Failure> {
        let likers = self.context.storage.likes.likers(Likable::Note(note), Page::new(1, FIRST)).await?;
        Brief::of(&self.context, &likers).await
    }

    /// Those of these notes and comments that somebody likes; whoever is not logged in likes none.
    ///
    /// # Errors
    /// Only if the store is in trouble.
    pub async fn liked(&self, user: Option<UserId>, among: &[Likable]) -> Result<HashSet<Likable>, Failure> {
        match user {
            Some(user) if !among.is_empty() => {
                Ok(self.context.storage.likes.liked(user, among).await?.into_iter().collect())
            }
            _ => Ok(HashSet::new()),
        }
    }
}
