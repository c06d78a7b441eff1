//! Readers' reports of notes, comments and reviews.

use async_trait::async_trait;

use crate::{Page, Post, StoreError, Timestamp, UserId};

/// Outcome of a report.
#[must_use]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReportOutcome {
    /// The report waits for an operator.
    Taken,
    /// The user reported the post before; nothing changed, whatever was decided since.
    Repeat,
    /// The post does not exist or is not visible.
    NotThere,
}

/// Open reports of one note, comment or review.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OpenReports {
    /// The reported note, comment or review.
    pub target: Post,
    /// Number of users who reported.
    pub count: u64,
    /// Reasons of the latest reports, at most [`OpenReports::REASONS_MAX`]. Reports without a reason are
    /// skipped.
    pub reasons: Vec<String>,
    /// Time of the latest report.
    pub latest: Timestamp,
}

impl OpenReports {
    /// Maximum number of reasons returned.
    pub const REASONS_MAX: u32 = 5;
}

/// Reports in the database.
///
/// - A user reports a post at most once. The first report of a visible post sets it to
///   [`Reported`](crate::Visibility::Reported); the post stays visible to everybody.
/// - Setting the visibility ([`Notes::put_visibility`](crate::Notes::put_visibility),
///   [`Comments::put_visibility`](crate::Comments::put_visibility),
///   [`Reviews::put_state`](crate::Reviews::put_state)) closes all reports of the post in the same
///   transaction. After an operator's decision to show a post, only users who never reported the post can
///   report again.
/// - Every call is a transaction of its own, durable when the call returns.
#[async_trait]
pub trait Reports: Send + Sync {
    /// Stores a report with a reason of at most 255 characters; `""` for none.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn report(
        &self,
        user: UserId,
        target: Post,
        reason: &str,
        now: Timestamp,
    ) -> Result<ReportOutcome, StoreError>;

    /// Returns a page of posts with open reports, and their total number. Order: most reports first, then
    /// latest report, then notes before comments before reviews, then highest id. Costs as much as there are
    /// open reports.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn open(&self, page: Page) -> Result<(Vec<OpenReports>, u64), StoreError>;
}
