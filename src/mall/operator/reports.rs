//! What readers report, and what operators decide about it.

use mallbox_storage::{NoteId, OpenReports, Page, Post, Timestamp, UserId, Visibility};
use serde_json::Value;

use super::act::{By, Deed, act};
use super::audit::AuditLog;
use crate::mall::{Context, Failure, Refusal};

/// What waits for a decision, as an operator sees it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReportView {
    /// Of what, by how many, and why.
    pub reports: OpenReports,
    /// The note it is, or is on.
    pub note: NoteId,
    /// Who wrote it.
    pub author: UserId,
    /// The note's title, or nothing for a comment.
    pub title: String,
    /// What it says.
    pub content: String,
    /// The note's pictures, `""` for none.
    pub images: String,
}

/// What an operator decides about a note or a comment. Each answers what was reported of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decision {
    /// Nobody is to see it.
    Hide,
    /// Everybody may see it, whatever was reported until now.
    Show,
    /// It is to go for ever.
    Delete,
}

/// Decides about what readers report.
pub struct ReportOffice {
    context: Context,
    audit: AuditLog,
}

impl ReportOffice {
    /// Things a page of the list.
    pub const PAGE: u32 = 20;

    /// Of this mall.
    #[must_use]
    pub fn new(context: Context, audit: AuditLog) -> Self {
        Self { context, audit }
    }

    /// What waits for a decision, what most have reported first; and how many things they are.
    ///
    /// # Errors
    /// Only if the store is in trouble.
    pub async fn page(&self, number: u32) -> Result<(Vec<ReportView>, u64), Failure> {
        let storage = &self.context.storage;
        let (open, total) = storage.reports.open(Page::new(number, Self::PAGE)).await?;
        let (mut notes, mut comments) = (Vec::new(), Vec::new());
        for reports in &open {
            match reports.target {
                Post::Note(note) => notes.push(note),
                Post::Comment(comment) => comments.push(comment),
            }
        }
        let (notes, comments) =
            (storage.notes.those(&notes).await?, storage.comments.those(&comments).await?);
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

    /// Decides about a note or a comment, reported or not. Again is no error.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], for what is deleted too.
    pub async fn decide(&self, by: By, target: Post, decision: Decision) -> Result<(), Failure> {
        decide(&self.context, &self.audit, by, target, decision).await
    }
}

/// Writes the decision down, then does it.
pub(in crate::mall) async fn decide(
    context: &Context,
    audit: &AuditLog,
    by: By,
    target: Post,
    decision: Decision,
) -> Result<(), Failure> {
    let (action, subject, missing) = words(target, decision);
    let visibility = match decision {
        Decision::Hide => Visibility::Hidden,
        Decision::Show => Visibility::Shown,
        Decision::Delete => Visibility::Deleted,
    };
    let deed = Deed { action, subject, detail: Value::Null };
    let context = context.clone();
    act(audit, by, deed, async move {
        match put(&context, target, visibility, by.at).await? {
            None => Err(missing.into()),
            Some(Visibility::Deleted) if decision != Decision::Delete => Err(missing.into()),
            Some(_) => Ok(()),
        }
    })
    .await
}

/// In the audit log's words, and what is said if it is not there.
fn words(target: Post, decision: Decision) -> (&'static str, String, Refusal) {
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

/// Decides who gets to see it; answers what it was.
pub(in crate::mall) async fn put(
    context: &Context,
    target: Post,
    visibility: Visibility,
    now: Timestamp,
) -> Result<Option<Visibility>, Failure> {
    let Context { storage, copies, .. } = context;
    match target {
        Post::Note(note) => {
            let put = storage.notes.put_visibility(note, visibility, now).await;
            copies.notes.changed(&[note]).await;
            Ok(put?)
        }
        Post::Comment(comment) => {
            let put = storage.comments.put_visibility(comment, visibility, now).await;
            // Its note tells how many it has.
            let notes = storage.comments.those(&[comment]).await?;
            copies.notes.changed(&notes.iter().map(|comment| comment.note).collect::<Vec<_>>()).await;
            Ok(put?)
        }
    }
}
