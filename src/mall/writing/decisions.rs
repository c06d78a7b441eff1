//! Decisions of operators about notes, comments and reviews: to hide, to show, or to delete.

use mallbox_storage::{Post, ReviewId, ReviewState, Timestamp, Visibility};
use serde_json::Value;

use crate::mall::base::{AuditLog, AuditedAction, By, Context, Failure, Refusal, SharedContext, run_audited};

/// An operator's decision about a note, comment or review. Each decision settles the open reports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decision {
    /// Hides the target from everybody.
    Hide,
    /// Shows the target to everybody, despite all reports so far.
    Show,
    /// Deletes the target permanently.
    Delete,
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
    let action = AuditedAction { action, subject, detail: Value::Null };
    let context = context.clone();
    run_audited(audit, by, action, async move {
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
        Post::Review(review) => {
            let action = match decision {
                Decision::Hide => "review.hide",
                Decision::Show => "review.show",
                Decision::Delete => "review.delete",
            };
            (action, format!("review {review}"), Refusal::NotFound("review"))
        }
    }
}

/// Sets the visibility of a note, comment or review. Returns the previous visibility; `None` if the target
/// does not exist.
pub(in crate::mall) async fn put(
    context: &Context,
    target: Post,
    visibility: Visibility,
    now: Timestamp,
) -> Result<Option<Visibility>, Failure> {
    let SharedContext { storage, copies, .. } = &**context;
    match target {
        Post::Note(note) => {
            let put = storage.writing.notes.put_visibility(note, visibility, now).await;
            copies.changed(target).await;
            Ok(put?)
        }
        Post::Comment(comment) => {
            let put = storage.writing.comments.put_visibility(comment, visibility, now).await;
            // The note shows its number of comments.
            let notes = storage.writing.comments.those(&[comment]).await?;
            copies.notes.changed(&notes.iter().map(|comment| comment.note).collect::<Vec<_>>()).await;
            Ok(put?)
        }
        Post::Review(review) => {
            let state = ReviewState { visibility, is_folded: false };
            Ok(put_review_state(context, review, state, now).await?.map(|was| was.visibility))
        }
    }
}

/// Sets the state of a review, and refreshes the score of its shop. Returns the previous state; `None` if the
/// review does not exist.
pub(in crate::mall) async fn put_review_state(
    context: &Context,
    review: ReviewId,
    state: ReviewState,
    now: Timestamp,
) -> Result<Option<ReviewState>, Failure> {
    let put = context.storage.writing.reviews.put_state(review, state, now).await;
    // After an error too: the write may have happened although the reply was lost.
    if let Some(found) = context.storage.writing.reviews.get(review).await? {
        context.copies.shops.changed(&[found.shop]).await;
    }
    Ok(put?)
}
