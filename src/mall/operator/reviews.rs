//! Reviews from the operator's side: decisions, replies of the shop, and the ledger of votes.
//!
//! Reasons: `src/decisions/0052-reviews.md`.

use mallbox_storage::{
    Page, Review, ReviewId, ReviewSearch, ReviewState, UserId, Visibility, VoteCursor, VoteLine,
};
use serde_json::{Value, json};

use crate::mall::base::audited_action::validate_reason;
use crate::mall::base::{
    AuditLog, AuditedAction, By, Context, Failure, InputError, Refusal, clean_text, run_audited,
};
use crate::mall::people::accounts::PublicUser;
use crate::mall::writing::decisions::put_review_state;

/// An operator's decision about a review. Each decision settles the open reports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReviewDecision {
    /// Shows the review to everybody, and counts it.
    Show,
    /// Lists the review apart, without votes and without weight in the score.
    Fold,
    /// Hides the review from everybody but its author.
    Hide,
    /// Deletes the review permanently.
    Delete,
}

impl ReviewDecision {
    fn state(self) -> ReviewState {
        let visibility = match self {
            Self::Show | Self::Fold => Visibility::Shown,
            Self::Hide => Visibility::Hidden,
            Self::Delete => Visibility::Deleted,
        };
        ReviewState { visibility, is_folded: self == Self::Fold }
    }

    fn action(self) -> &'static str {
        match self {
            Self::Show => "review.show",
            Self::Fold => "review.fold",
            Self::Hide => "review.hide",
            Self::Delete => "review.delete",
        }
    }
}

/// The operators' service for reviews.
pub struct ReviewAdmin {
    context: Context,
    audit: AuditLog,
}

impl ReviewAdmin {
    /// Reviews per page.
    pub const PAGE: u32 = 20;
    /// Lines of a ledger per page.
    pub const LINES: u32 = 50;

    /// Creates the service.
    #[must_use]
    pub fn new(context: Context, audit: AuditLog) -> Self {
        Self { context, audit }
    }

    /// Returns a page of the reviews that match `search`, newest first, with their authors, and the total
    /// number.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
    pub async fn page(
        &self,
        search: &ReviewSearch,
        number: u32,
    ) -> Result<(Vec<(Review, PublicUser)>, u64), Failure> {
        let page = Page::new(number, Self::PAGE);
        let (reviews, total) = self.context.storage.writing.reviews.find(search, page).await?;
        let authors: Vec<UserId> = reviews.iter().map(|review| review.author).collect();
        let authors = PublicUser::of(&self.context, &authors).await?;
        let with_author = |review: Review| {
            let author = authors.iter().find(|author| author.id == review.author)?.clone();
            Some((review, author))
        };
        Ok((reviews.into_iter().filter_map(with_author).collect(), total))
    }

    /// Decides about a review, reported or not. A repeat succeeds.
    ///
    /// # Errors
    /// [`Refusal::BadValue`] for a reason outside 1 to 200 characters; [`Refusal::NotFound`], also for a
    /// deleted review, unless the decision is to delete it.
    pub async fn decide(
        &self,
        by: By,
        review: ReviewId,
        decision: ReviewDecision,
        reason: &str,
    ) -> Result<(), Failure> {
        let reason = validate_reason(clean_text::line(reason))?;
        let action = audited(decision.action(), review, json!({ "reason": reason }));
        let context = self.context.clone();
        run_audited(&self.audit, by, action, async move {
            match put_review_state(&context, review, decision.state(), by.at).await? {
                Some(was) if was.visibility != Visibility::Deleted || decision == ReviewDecision::Delete => {
                    Ok(())
                }
                _ => Err(Refusal::NotFound("review").into()),
            }
        })
        .await
    }

    /// Sets the shop's reply to a review; `None` removes it.
    ///
    /// # Errors
    /// [`InputError::Missing`] for an empty reply, [`InputError::OutOfRange`] for one of more than 512
    /// characters; [`Refusal::NotFound`], also for a deleted review.
    pub async fn reply(&self, by: By, review: ReviewId, reply: Option<&str>) -> Result<(), Failure> {
        let reply =
            reply.map(|reply| clean_text::within("reply", clean_text::lines(reply), 512)).transpose()?;
        if reply.as_ref().is_some_and(String::is_empty) {
            return Err(InputError::Missing("reply").into());
        }
        let name = if reply.is_some() { "review.reply" } else { "review.remove_reply" };
        let action = audited(name, review, json!({ "reply": reply }));
        let context = self.context.clone();
        run_audited(&self.audit, by, action, async move {
            if context.storage.writing.reviews.put_reply(review, reply.as_deref(), by.at).await? {
                Ok(())
            } else {
                Err(Refusal::NotFound("review").into())
            }
        })
        .await
    }

    /// Returns lines of a review's votes with a number below `below`, newest first; `None` begins.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
    pub async fn lines(&self, review: ReviewId, below: Option<u64>) -> Result<Vec<VoteLine>, Failure> {
        Ok(self.context.storage.writing.votes.lines(review, below, Self::LINES).await?)
    }

    /// Returns lines of all reviews' votes behind `after`, newest first; `None` begins.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
    pub async fn newest_lines(&self, after: Option<VoteCursor>) -> Result<Vec<VoteLine>, Failure> {
        Ok(self.context.storage.writing.votes.newest_lines(after, Self::LINES).await?)
    }
}

fn audited(action: &'static str, review: ReviewId, detail: Value) -> AuditedAction {
    AuditedAction { action, subject: format!("review {review}"), detail }
}
