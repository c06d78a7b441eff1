//! Comments on notes, with one level of replies.

use std::collections::{HashMap, HashSet};

use mallbox_storage::{Comment, CommentId, CommentOutcome, NoteId, Page, Post, Thread, Timestamp, UserId};

use super::within_limit;
use crate::mall::base::{AuditLog, Context, Failure, InputError, Refusal, clean_text};
use crate::mall::people::accounts::PublicUser;
use crate::mall::writing::authors::Authors;
use crate::mall::writing::likes::liked;
use crate::mall::writing::removal::{Removal, Remover, remove};

/// Comments or replies per page.
const PAGE: u32 = 10;

/// A comment as shown to a reader.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CommentView {
    /// The stored comment; its content is empty if the comment is hidden or deleted.
    pub comment: Comment,
    /// The comment's author.
    pub author: PublicUser,
    /// The author of the reply being replied to; `None` for a comment, and for a reply to the top comment.
    pub answered: Option<PublicUser>,
    /// Whether the reader likes the comment.
    pub is_liked: bool,
}

/// A comment with its first replies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ThreadView {
    /// The top comment.
    pub comment: CommentView,
    /// The first replies, oldest first.
    pub answers: Vec<CommentView>,
    /// Total number of replies.
    pub answer_count: u64,
}

/// The service for comments.
pub struct Comments {
    context: Context,
    audit: AuditLog,
}

impl Comments {
    /// Creates the service.
    #[must_use]
    pub fn new(context: Context, audit: AuditLog) -> Self {
        Self { context, audit }
    }

    /// Stores a comment of 1 to 512 characters on a note, or a reply to a comment on the note.
    ///
    /// # Errors
    /// [`InputError::Missing`], [`InputError::OutOfRange`]; [`Refusal::NotFound`] for the note or the
    /// comment; [`Refusal::RateLimited`].
    pub async fn write(
        &self,
        author: UserId,
        note: NoteId,
        answers: Option<CommentId>,
        content: &str,
        now: Timestamp,
    ) -> Result<CommentId, Failure> {
        let content = clean_text::within("comment", clean_text::lines(content), 512)?;
        if content.is_empty() {
            return Err(InputError::Missing("comment").into());
        }
        within_limit(&self.context, author, now).await?;
        let commented =
            self.context.storage.writing.comments.insert(author, note, answers, &content, now).await;
        // The cached note contains the number of comments.
        self.context.copies.notes.changed(&[note]).await;
        match commented? {
            CommentOutcome::Written(comment) => Ok(comment),
            CommentOutcome::NoNote => Err(Refusal::NotFound("note").into()),
            CommentOutcome::NoComment => Err(Refusal::NotFound("comment").into()),
        }
    }

    /// Returns a page of comments on a note, newest first, each with its first replies, and the total number
    /// of comments.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] for an unknown or invisible note.
    pub async fn of_note(
        &self,
        note: NoteId,
        page: u32,
        reader: Option<UserId>,
    ) -> Result<(Vec<ThreadView>, u64), Failure> {
        self.see(note).await?;
        let (threads, total) =
            self.context.storage.writing.comments.threads(note, Page::new(page, PAGE)).await?;
        let all: Vec<&Comment> =
            threads.iter().flat_map(|thread| [&thread.comment].into_iter().chain(&thread.answers)).collect();
        let people = self.people(&all, reader).await?;
        let view = |Thread { comment, answers, answer_count }| ThreadView {
            comment: people.view(comment),
            answers: answers.into_iter().map(|answer| people.view(answer)).collect(),
            answer_count,
        };
        Ok((threads.into_iter().map(view).collect(), total))
    }

    /// Returns a page of replies to a comment, oldest first, and the total number of replies.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] for an unknown comment, or a comment on an invisible note.
    pub async fn answers(
        &self,
        parent: CommentId,
        page: u32,
        reader: Option<UserId>,
    ) -> Result<(Vec<CommentView>, u64), Failure> {
        let comments = &self.context.storage.writing.comments;
        let found = comments.those(&[parent]).await?.pop().ok_or(Refusal::NotFound("comment"))?;
        self.see(found.note).await?;
        let (answers, total) = comments.answers(parent, Page::new(page, PAGE)).await?;
        let people = self.people(&answers.iter().collect::<Vec<_>>(), reader).await?;
        Ok((answers.into_iter().map(|answer| people.view(answer)).collect(), total))
    }

    /// Deletes a comment for good, on behalf of its author or of an operator. An operator's deletion goes to
    /// the audit log. A repeated call is no error.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::Forbidden`] for any other user; [`Refusal::SecondFactor`] for an
    /// operator who has not given the second factor.
    pub async fn remove(&self, comment: CommentId, by: Remover, now: Timestamp) -> Result<(), Failure> {
        let found = self.context.storage.writing.comments.those(&[comment]).await?.pop();
        let found = found.ok_or(Refusal::NotFound("comment"))?;
        let removal =
            Removal { target: Post::Comment(comment), author: found.author, visibility: found.visibility };
        remove(&self.context, &self.audit, removal, by, now).await
    }

    async fn see(&self, note: NoteId) -> Result<(), Failure> {
        let note = self.context.storage.writing.notes.get(note).await?;
        note.filter(|note| note.visibility.is_seen()).ok_or(Refusal::NotFound("note"))?;
        Ok(())
    }

    /// Loads the authors of these comments, the authors of replied-to replies, and the reader's likes.
    async fn people(&self, comments: &[&Comment], reader: Option<UserId>) -> Result<CommentPeople, Failure> {
        let answered: Vec<CommentId> = comments.iter().filter_map(|comment| replied_to(comment)).collect();
        let answered = match &*answered {
            [] => Vec::new(),
            answered => self.context.storage.writing.comments.those(answered).await?,
        };
        let answered: HashMap<CommentId, UserId> =
            answered.into_iter().map(|comment| (comment.id, comment.author)).collect();
        let authors = comments.iter().map(|comment| comment.author).chain(answered.values().copied());
        let writers = Authors::of(&self.context, authors).await?;
        let posts = comments.iter().map(|comment| Post::Comment(comment.id));
        let liked = liked(&self.context, reader, posts).await?;
        Ok(CommentPeople { writers, answered, liked })
    }
}

/// Returns the reply being replied to; `None` for a reply to the top comment.
fn replied_to(comment: &Comment) -> Option<CommentId> {
    comment.answers.filter(|answered| Some(*answered) != comment.parent)
}

/// Authors, replied-to authors and likes for a page of comments.
struct CommentPeople {
    writers: Authors,
    answered: HashMap<CommentId, UserId>,
    liked: HashSet<Post>,
}

impl CommentPeople {
    fn view(&self, mut comment: Comment) -> CommentView {
        if !comment.visibility.is_seen() {
            comment.content.clear();
        }
        let answered = replied_to(&comment).and_then(|answered| self.answered.get(&answered));
        let answered = answered.map(|user| self.writers.brief(*user));
        let is_liked = self.liked.contains(&Post::Comment(comment.id));
        CommentView { author: self.writers.brief(comment.author), answered, is_liked, comment }
    }
}
