//! Readers' reports, and the operators' decisions about reported notes and comments.

use mallbox_storage::{NoteId, OpenReports, Page, Post, Timestamp, UserId, Visibility};
use serde_json::Value;

use super::act::{AuditedAction, By, run_audited};
use super::audit::AuditLog;
use crate::mall::{Context, Failure, Refusal};

/// A reported note or comment with its open reports.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReportView {
    /// Target, number and reasons of the open reports.
    pub reports: OpenReports,
    /// The reported note, or the note of a reported comment.
    pub note: NoteId,
    /// Author of the note or comment.
    pub author: UserId,
    /// Title of the note; empty for a comment.
    pub title: String,
    /// Text of the note or comment.
    pub content: String,
    /// Pictures of the note, `""` for none.
    pub images: String,
}

/// An operator's decision about a note or comment. Each decision settles the open reports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decision {
    /// Hides the target from everybody.
    Hide,
    /// Shows the target to everybody, despite all reports so far.
    Show,
    /// Deletes the target permanently.
    Delete,
}

/// The operators' service for reports.
pub struct ReportAdmin {
    context: Context,
    audit: AuditLog,
}

impl ReportAdmin {
    /// Reported notes and comments per page.
    pub const PAGE: u32 = 20;

    /// Creates the service.
    #[must_use]
    pub fn new(context: Context, audit: AuditLog) -> Self {
        Self { context, audit }
    }

    /// Returns a page of the open reports, most reported first, and the number of targets.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
    pub async fn page(&self, number: u32) -> Result<(Vec<ReportView>, u64), Failure> {
        let storage = &self.context.storage;
        let (open, total) = storage.writing.reports.open(Page::new(number, Self::PAGE)).await?;
        let (mut notes, mut comments) = (Vec::new(), Vec::new());
        for reports in &open {
            match reports.target {
                Post::Note(note) => notes.push(note),
                Post::Comment(comment) => comments.push(comment),
            }
        }
        let (notes, comments) =
            (storage.writing.notes.those(&notes).await?, storage.writing.comments.those(&comments).await?);
        let view = |reports: OpenReports| match reports.target {
            Post::Note(id) => notes.iter().find(|note| note.id == id).map(|note| ReportView {
                reports,
                note: id,
                author: note.author,
                title: note.text.title.clone(),
                content: note.text.content.clone(),
                images: note.text.images.clone(),
            }),
            Post::Comment(id) => comments.iter().find(|comment| comment.id == id).map(|comment| ReportView {
                reports,
                note: comment.note,
                author: comment.author,
                title: String::new(),
                content: comment.content.clone(),
                images: String::new(),
            }),
        };
        Ok((open.into_iter().filter_map(view).collect(), total))
    }

    /// Decides about a note or comment, reported or not. A repeat succeeds.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], also for a deleted target; [`Failure::Store`] if the store fails.
    pub async fn decide(&self, by: By, target: Post, decision: Decision) -> Result<(), Failure> {
        decide(&self.context, &self.audit, by, target, decision).await
    }
}

/// Logs the decision, then executes it.
pub(in crate::mall) async fn decide(
    context: &Context,
    audit: &AuditLog,
    by: By,
    target: Post,
    decision: Decision,
) -> Result<(), Failure> {
    let (action, subject, missing) = audit_names(target, decision);
    let visibility = match decision {
        Decision::Hide => Visibility::Hidden,
        Decision::Show => Visibility::Shown,
        Decision::Delete => Visibility::Deleted,
    };
    let deed = AuditedAction { action, subject, detail: Value::Null };
    let context = context.clone();
    run_audited(audit, by, deed, async move {
        match put(&context, target, visibility, by.at).await? {
            None => Err(missing.into()),
            Some(Visibility::Deleted) if decision != Decision::Delete => Err(missing.into()),
            Some(_) => Ok(()),
        }
    })
    .await
}

/// Returns the names for the audit log, and the refusal for a missing target.
fn audit_names(target: Post, decision: Decision) -> (&'static str, String, Refusal) {
    match target {
        Post::Note(note) => {
            let action = match decision {
                Decision::Hide => "note.hide",
                Decision::Show => "note.show",
                Decision::Delete => "note.delete",
            };
            (action, format!("note {note}"), Refusal::NotFound("note"))
        }
        Post::Comment(comment) => {
            let action = match decision {
                Decision::Hide => "comment.hide",
                Decision::Show => "comment.show",
                Decision::Delete => "comment.delete",
            };
            (action, format!("comment {comment}"), Refusal::NotFound("comment"))
        }
    }
}

/// Sets the visibility of a note or comment. Returns the previous visibility; `None` if the target does not
/// exist.
pub(in crate::mall) async fn put(
    context: &Context,
    target: Post,
    visibility: Visibility,
    now: Timestamp,
) -> Result<Option<Visibility>, Failure> {
    let Context { storage, copies, .. } = context;
    match target {
        Post::Note(note) => {
            let put = storage.writing.notes.put_visibility(note, visibility, now).await;
            copies.notes.changed(&[note]).await;
            Ok(put?)
        }
        Post::Comment(comment) => {
            let put = storage.writing.comments.put_visibility(comment, visibility, now).await;
            // The note shows its number of comments.
            let notes = storage.writing.comments.those(&[comment]).await?;
            copies.notes.changed(&notes.iter().map(|comment| comment.note).collect::<Vec<_>>()).await;
            Ok(put?)
        }
    }
}
