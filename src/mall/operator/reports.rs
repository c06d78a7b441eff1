//! Readers' reports, and the operators' decisions about reported notes, comments and reviews.

use mallbox_storage::{NoteId, OpenReports, Page, Post, ShopId, UserId};
use serde_json::Value;

use crate::mall::base::{AuditLog, AuditedAction, By, Context, Failure, Refusal, run_audited};
use crate::mall::writing::decisions::{Decision, decide};
use crate::mall::writing::pictures::{file_name, full_name, remove_file};

/// A reported note, comment or review with its open reports.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReportView {
    /// Target, number and reasons of the open reports.
    pub reports: OpenReports,
    /// The reported note, or the note of a reported comment; `None` for a review.
    pub note: Option<NoteId>,
    /// The shop of a reported review; `None` for a note or comment.
    pub shop: Option<ShopId>,
    /// Author of the note, comment or review.
    pub author: UserId,
    /// Title of the note; empty for a comment or review.
    pub title: String,
    /// Text of the note, comment or review.
    pub content: String,
    /// Pictures of the note or review, `""` for none.
    pub images: String,
    /// Stars × 10 of a review; `None` for a note or comment.
    pub score: Option<i64>,
    /// Whether a review is folded; `None` for a note or comment.
    pub is_folded: Option<bool>,
}

/// The operators' service for reports.
pub struct ReportAdmin {
    context: Context,
    audit: AuditLog,
}

impl ReportAdmin {
    /// Reported notes, comments and reviews per page.
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
        let (mut notes, mut comments, mut reviews) = (Vec::new(), Vec::new(), Vec::new());
        for reports in &open {
            match reports.target {
                Post::Note(note) => notes.push(note),
                Post::Comment(comment) => comments.push(comment),
                Post::Review(review) => reviews.push(review),
            }
        }
        let (notes, comments) =
            (storage.writing.notes.those(&notes).await?, storage.writing.comments.those(&comments).await?);
        let reviews = storage.writing.reviews.those(&reviews).await?;
        let view = |reports: OpenReports| match reports.target {
            Post::Note(id) => notes.iter().find(|note| note.id == id).map(|note| ReportView {
                reports,
                note: Some(id),
                shop: None,
                author: note.author,
                title: note.text.title.clone(),
                content: note.text.content.clone(),
                images: note.text.images.clone(),
                score: None,
                is_folded: None,
            }),
            Post::Comment(id) => comments.iter().find(|comment| comment.id == id).map(|comment| ReportView {
                reports,
                note: Some(comment.note),
                shop: None,
                author: comment.author,
                title: String::new(),
                content: comment.content.clone(),
                images: String::new(),
                score: None,
                is_folded: None,
            }),
            Post::Review(id) => reviews.iter().find(|review| review.id == id).map(|review| ReportView {
                reports,
                note: None,
                shop: Some(review.shop),
                author: review.author,
                title: String::new(),
                content: review.text.content.clone(),
                images: review.text.images.clone(),
                score: Some(review.text.stars.score()),
                is_folded: Some(review.state.is_folded),
            }),
        };
        Ok((open.into_iter().filter_map(view).collect(), total))
    }

    /// Decides about a note, comment or review, reported or not. A repeat succeeds.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], also for a deleted target; [`Failure::Store`] if the store fails.
    pub async fn decide(&self, by: By, target: Post, decision: Decision) -> Result<(), Failure> {
        decide(&self.context, &self.audit, by, target, decision).await
    }

    /// Removes a picture for good, whatever shows it: an upload, or a file of an import. `name` is the
    /// picture's path, or the file name of an upload alone.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] if no picture has this name; [`Failure::Store`] if the store fails.
    pub async fn erase_picture(&self, by: By, name: &str) -> Result<(), Failure> {
        let file = || file_name(name).filter(|_| name.contains('/'));
        let name = full_name(name).or_else(file).ok_or(Refusal::NotFound("picture"))?;
        let subject = format!("picture {name}");
        let deed = AuditedAction { action: "picture.erase", subject, detail: Value::Null };
        let context = self.context.clone();
        run_audited(&self.audit, by, deed, async move {
            if !context.storage.writing.pictures.erase(&name, by.at).await? {
                return Err(Refusal::NotFound("picture").into());
            }
            // Nobody is shown the file any more; if it stays now, a background job removes it.
            if let Some(folder) = &context.settings.picture_files
                && let Err(error) = remove_file(folder, &name).await
            {
                tracing::warn!(name, %error, "could not remove a picture file");
            }
            Ok(())
        })
        .await
    }
}
