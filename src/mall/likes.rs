//! Who likes what.

use std::collections::HashSet;

use mallbox_storage::{CommentId, LikeChange, Liked, NoteId, Page, Post, Timestamp, UserId};

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
        let liked = self.toggle(user, Post::Note(note), now).await?;
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
        let liked = self.toggle(user, Post::Comment(comment), now).await?;
        Ok(liked.ok_or(Refusal::NotFound("comment"))?)
    }

    async fn toggle(&self, user: UserId, what: Post, now: Timestamp) -> Result<Option<Liked>, Failure> {
        let liked = self.context.storage.likes.change(user, what, LikeChange::Toggle, now).await;
        // Also if no answer came: it may have been written.
        self.context.copies.changed(what).await;
        Ok(liked?)
    }

    /// The first five who liked a note, in that order.
    ///
    /// # Errors
    /// Only if the store is in trouble.
    pub async fn first_likers(&self, note: NoteId) -> Result<Vec<Brief>, Failure> {
        let likers = self.context.storage.likes.likers(Post::Note(note), Page::new(1, FIRST)).await?;
        Brief::of(&self.context, &likers).await
    }
}

/// Those of these that somebody likes; whoever is not logged in likes none.
pub(super) async fn liked(
    context: &Context,
    user: Option<UserId>,
    among: impl Iterator<Item = Post>,
) -> Result<HashSet<Post>, Failure> {
    let among: Vec<Post> = among.collect();
    match user {
        Some(user) if !among.is_empty() => {
            Ok(context.storage.likes.liked(user, &among).await?.into_iter().collect())
        }
        _ => Ok(HashSet::new()),
    }
}
