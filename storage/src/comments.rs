//! Comments on notes, and answers to them.

use async_trait::async_trait;

use crate::{CommentId, NoteId, Page, StoreError, Timestamp, UserId, Visibility};

/// A comment on a note, or an answer to one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Comment {
    /// Which.
    pub id: CommentId,
    /// On which note.
    pub note: NoteId,
    /// Whose.
    pub author: UserId,
    /// The comment it stands below; `None` for one that stands below the note itself.
    pub parent: Option<CommentId>,
    /// Which it answers: its parent, or another answer below the same one.
    pub answers: Option<CommentId>,
    /// What it says; nothing if it is deleted.
    pub content: String,
    /// How often it is liked: likes that it came with from elsewhere, and those given here.
    pub liked: u64,
    /// Who gets to see it.
    pub visibility: Visibility,
    /// Since when.
    pub created: Timestamp,
}

/// A comment with what was answered to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Thread {
    /// The comment. It may be one that nobody sees, if there are answers that are seen: then its place alone is shown.
    pub comment: Comment,
    /// The first of its answers that are seen, no more than [`Thread::ANSWERS`].
    pub answers: Vec<Comment>,
    /// How many of its answers are seen.
    pub answer_count: u64,
}

impl Thread {
    /// So many answers come with a comment.
    pub const ANSWERS: u32 = 3;
}

/// What became of a comment.
#[must_use]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Commented {
    /// It stands there.
    Written(CommentId),
    /// There is no such note that is seen.
    NoNote,
    /// There is no such comment to answer that is seen, or it is another note's.
    NoComment,
}

/// Comments: part of the record.
///
/// - There is one level of answers: an answer to an answer stands below the same comment, and says which it answers.
/// - Ids are given in ascending order and never again. Nobody is asked whether the author is there.
/// - Every change is its own transaction, which keeps the note's [`comments`](crate::Note::comments) exact however many come
///   at once: they are the comments and answers that are seen, and what the note came with beyond those that came with it.
/// - Comments below a note are the newest first, answers below a comment the oldest first; of one instant the lower id is the
///   older. A list that changes while its pages are turned may show one twice or leave one out.
/// - A page costs what stands before it, and what its comments have of answers.
#[async_trait]
pub trait Comments: Send + Sync {
    /// Adds a comment to a note that is seen, or an answer to a comment on it that is seen.
    ///
    /// # Errors
    /// [`StoreError`]: nothing was added, or the answer was lost.
    async fn insert(
        &self,
        author: UserId,
        note: NoteId,
        answers: Option<CommentId>,
        content: &str,
        now: Timestamp,
    ) -> Result<Commented, StoreError>;

    /// The comments of these ids, in the order in which they are asked for, whoever may see them; ids of none are left out.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn those(&self, comments: &[CommentId]) -> Result<Vec<Comment>, StoreError>;

    /// Comments below a note that are seen or have answers that are; and how many they are.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn threads(&self, note: NoteId, page: Page) -> Result<(Vec<Thread>, u64), StoreError>;

    /// Answers below a comment that are seen; and how many they are.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn answers(&self, parent: CommentId, page: Page) -> Result<(Vec<Comment>, u64), StoreError>;

    /// Decides who gets to see a comment, whatever was decided before. Answers what it was; `None` for no comment.
    ///
    /// As with a note ([`Notes::put_visibility`](crate::Notes::put_visibility)), what was reported of it is thereby decided,
    /// unless it is put to [`Visibility::Reported`]; and [`Visibility::Deleted`] empties it and is final.
    ///
    /// # Errors
    /// [`StoreError`]: nothing changed, or the answer was lost; call again.
    async fn put_visibility(
        &self,
        comment: CommentId,
        visibility: Visibility,
        now: Timestamp,
    ) -> Result<Option<Visibility>, StoreError>;

    /// How many notes keep another count than their comments make, all counted anew at one instant: none, unless something
    /// is wrong.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn miscounted(&self) -> Result<u64, StoreError>;
}

/// By how many a note's comments change when one of them gets to be seen or not.
pub(crate) fn change_of_count(was: Visibility, is: Visibility) -> i64 {
    i64::from(is.is_seen()) - i64::from(was.is_seen())
}
