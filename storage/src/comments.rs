//! Comments on notes, and replies to comments.
//!
//! Reasons and figures: `storage/decisions/0025-notes-and-comments.md`.

use async_trait::async_trait;

use crate::{CommentId, NoteId, Page, StoreError, Timestamp, UserId, Visibility};

/// A comment on a note, or a reply.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Comment {
    /// Id of the comment.
    pub id: CommentId,
    /// The note commented on.
    pub note: NoteId,
    /// Author of the comment.
    pub author: UserId,
    /// The comment above a reply; `None` for a top-level comment.
    pub parent: Option<CommentId>,
    /// The comment replied to: the parent, or another reply below the same parent.
    pub answers: Option<CommentId>,
    /// Text of the comment; empty if deleted.
    pub content: String,
    /// Number of likes, imported ones included.
    pub liked: u64,
    /// Visibility of the comment.
    pub visibility: Visibility,
    /// Time of writing.
    pub created: Timestamp,
}

/// A top-level comment with its replies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Thread {
    /// The top-level comment. A comment that is not visible is included if visible replies exist; only a
    /// placeholder is then shown.
    pub comment: Comment,
    /// The oldest visible replies, at most [`Thread::REPLIES_MAX`].
    pub answers: Vec<Comment>,
    /// Total number of visible replies.
    pub answer_count: u64,
}

impl Thread {
    /// Number of replies returned with a comment.
    pub const REPLIES_MAX: u32 = 3;
}

/// Outcome of inserting a comment.
#[must_use]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CommentOutcome {
    /// The comment was inserted under this id.
    Written(CommentId),
    /// The note does not exist or is not visible.
    NoNote,
    /// The comment replied to does not exist, is not visible, or belongs to another note.
    NoComment,
}

/// Comments in the database.
///
/// - Replies have one level: a reply to a reply has the same parent, and names the reply it responds to.
/// - Ids are assigned in ascending order and never reused. The existence of the author is not checked.
/// - Every change is a transaction of its own, which keeps the note's [`comments`](crate::Note::comments)
///   exact under concurrency: visible comments and replies here + the count claimed by the import − comments
///   actually imported.
/// - Top-level comments are listed newest first, replies oldest first; within one instant, the lower id
///   counts as older. If a list changes while a client pages through, an item may appear twice or be missed.
/// - A page costs as much as its offset plus the replies of its comments.
#[async_trait]
pub trait Comments: Send + Sync {
    /// Inserts a comment on a visible note, or a reply to a visible comment of the note.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing was inserted, or the response was lost.
    async fn insert(
        &self,
        author: UserId,
        note: NoteId,
        answers: Option<CommentId>,
        content: &str,
        now: Timestamp,
    ) -> Result<CommentOutcome, StoreError>;

    /// Returns the comments with these ids, whatever their visibility, in the order of `comments`; unknown
    /// ids are left out.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn those(&self, comments: &[CommentId]) -> Result<Vec<Comment>, StoreError>;

    /// Returns a page of the note's top-level comments that are visible or have visible replies, and their
    /// total number.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn threads(&self, note: NoteId, page: Page) -> Result<(Vec<Thread>, u64), StoreError>;

    /// Returns a page of the visible replies below a comment, and their total number.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn answers(&self, parent: CommentId, page: Page) -> Result<(Vec<Comment>, u64), StoreError>;

    /// Sets the visibility of a comment, overriding earlier decisions. Returns the former visibility; `None`
    /// for an unknown comment.
    ///
    /// As for a note ([`Notes::put_visibility`](crate::Notes::put_visibility)), the change closes all reports
    /// of the comment, except a change to [`Visibility::Reported`]. [`Visibility::Deleted`] erases the text
    /// and is final.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn put_visibility(
        &self,
        comment: CommentId,
        visibility: Visibility,
        now: Timestamp,
    ) -> Result<Option<Visibility>, StoreError>;

    /// Recounts comments in one snapshot, and returns the number of notes with a wrong comment count. Not 0
    /// only after a bug or damage.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn miscounted(&self) -> Result<u64, StoreError>;
}

/// Returns the change of a note's comment count when the visibility of one comment changes.
pub fn change_of_count(was: Visibility, is: Visibility) -> i64 {
    i64::from(is.is_seen()) - i64::from(was.is_seen())
}
