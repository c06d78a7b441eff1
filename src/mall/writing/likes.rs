//! Likes of notes and comments.

use std::collections::HashSet;

use mallbox_storage::{CommentId, LikeChange, LikeOutcome, NoteId, Page, Post, Timestamp, UserId};

use crate::mall::base::{Context, Failure, Refusal};
use crate::mall::people::accounts::PublicUser;

/// Number of likers shown with a note.
const LIKERS_SHOWN: u32 = 5;

/// The service for likes.
pub struct Likes {
    context: Context,
}

impl Likes {
    /// Creates the service.
    #[must_use]
    pub fn new(context: Context) -> Self {
        Self { context }
    }

    /// Changes the user's like of a note.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] for an unknown or invisible note; [`Refusal::RateLimited`].
    pub async fn change_note(
        &self,
        user: UserId,
        note: NoteId,
        change: LikeChange,
        now: Timestamp,
    ) -> Result<LikeOutcome, Failure> {
        let liked = self.change(user, Post::Note(note), change, now).await?;
        Ok(liked.ok_or(Refusal::NotFound("note"))?)
    }

    /// Changes the user's like of a comment.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] for an unknown or invisible comment; [`Refusal::RateLimited`].
    pub async fn change_comment(
        &self,
        user: UserId,
        comment: CommentId,
        change: LikeChange,
        now: Timestamp,
    ) -> Result<LikeOutcome, Failure> {
        let liked = self.change(user, Post::Comment(comment), change, now).await?;
        Ok(liked.ok_or(Refusal::NotFound("comment"))?)
    }

    async fn change(
        &self,
        user: UserId,
        what: Post,
        change: LikeChange,
        now: Timestamp,
    ) -> Result<Option<LikeOutcome>, Failure> {
        self.context.count_action(user, now).await?;
        let liked = self.context.storage.writing.likes.change(user, what, change, now).await;
        // Invalidate after an error too: the write may have happened although the reply was lost.
        self.context.copies.changed(what).await;
        Ok(liked?)
    }

    /// Returns the first five users who liked a note, oldest like first.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
    pub async fn first_likers(&self, note: NoteId) -> Result<Vec<PublicUser>, Failure> {
        let likers =
            self.context.storage.writing.likes.likers(Post::Note(note), Page::new(1, LIKERS_SHOWN)).await?;
        PublicUser::of(&self.context, &likers).await
    }
}

/// Returns the posts of `among` that the user likes; none without a logged-in user.
pub(in crate::mall) async fn liked(
    context: &Context,
    user: Option<UserId>,
    among: impl Iterator<Item = Post>,
) -> Result<HashSet<Post>, Failure> {
    let among: Vec<Post> = among.collect();
    match user {
        Some(user) if !among.is_empty() => {
            Ok(context.storage.writing.likes.liked(user, &among).await?.into_iter().collect())
        }
        _ => Ok(HashSet::new()),
    }
}
