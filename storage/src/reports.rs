//! What readers report to the operators.

use async_trait::async_trait;

use crate::{Page, Post, StoreError, Timestamp, UserId};

/// What became of a report.
#[must_use]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReportAnswer {
    /// It waits for an operator.
    Taken,
    /// This person reported it before: nothing changed, whatever was decided since.
    Repeat,
    /// There is no such note or comment that is seen.
    NotThere,
}

/// What was reported of one note or comment and waits for an operator.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OpenReports {
    /// Of what.
    pub target: Post,
    /// By how many.
    pub count: u64,
    /// Why, in the words of the last few, no more than [`OpenReports::REASONS`]. Who gave none says nothing here.
    pub reasons: Vec<String>,
    /// When the last of them came.
    pub latest: Timestamp,
}

impl OpenReports {
    /// So many reasons are told.
    pub const REASONS: u32 = 5;
}

/// Reports: part of the record.
///
/// - A person reports a thing once. The first report of something that is shown makes it
///   [`Reported`](crate::Visibility::Reported); everybody sees it still.
/// - Whoever decides who gets to see it ([`Notes::put_visibility`](crate::Notes::put_visibility),
///   [`Comments::put_visibility`](crate::Comments::put_visibility)) thereby decides all of its reports, in one transaction.
///   What an operator has shown again is reported anew only by somebody who had not reported it before.
/// - Every call is its own transaction and durable when it answers.
#[async_trait]
pub trait Reports: Send + Sync {
    /// Takes a report: why, in at most 255 characters; `""` for no reason.
    ///
    /// # Errors
    /// [`StoreError`]: nothing changed, or the answer was lost; call again.
    async fn report(
        &self,
        user: UserId,
        target: Post,
        reason: &str,
        now: Timestamp,
    ) -> Result<ReportAnswer, StoreError>;

    /// What waits for an operator, and of how many things: those that most have reported first, of those the one that was
    /// reported last, of one instant notes before comments and the higher id. Costs what there is of open reports.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn open(&self, page: Page) -> Result<(Vec<OpenReports>, u64), StoreError>;
}
