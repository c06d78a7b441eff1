//! The export of a user's own data, page by page.

use std::time::Duration;

use mallbox_storage::{
    ArchiveLedger, ArchivedVotes, Comment, CommentId, CreditLine, Day, DaySpan, GivenLike, Limit, Note,
    NoteId, OrderStatus, Page, Post, Profile, Review, ReviewId, SignedDay, StoredAttempt, Timestamp, User,
    UserId, VoteLine, WaitingEntry,
};

use crate::mall::base::{Context, Failure, Refusal};
use crate::mall::people::accounts::PublicUser;
use crate::mall::selling::order_queries::OrderView;
use crate::mall::selling::receipts::ReceiptCode;
use crate::mall::selling::{Orders, Receipts};

/// Exports per user: a large one reads all rows of the user.
const EXPORTS: Limit = Limit { count: 5, per: Duration::from_secs(60 * 60) };
/// Rows per page: bounds the memory of an export.
const PAGE: u32 = 200;

/// An order with its receipt code.
pub struct ExportedOrder {
    /// The order, as its buyer sees it.
    pub view: OrderView,
    /// The code for the counter, of a paid or used order.
    pub receipt: Option<ReceiptCode>,
}

/// Place in the list of a user's vote lines: first the table, then one archived day after the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VotePlace {
    /// Behind a line of the table; `None` begins.
    Table(Option<(ReviewId, u64)>),
    /// At an offset in the file of an archived day.
    Within(Day, u64),
    /// Behind an archived day; `None` is before the first.
    Behind(Option<Day>),
}

/// The service for exports. Cheap to clone.
#[derive(Clone)]
pub struct DataExport {
    context: Context,
    orders: Orders,
    receipts: Receipts,
}

impl DataExport {
    /// Creates the service.
    #[must_use]
    pub fn new(context: Context, orders: Orders, receipts: Receipts) -> Self {
        Self { context, orders, receipts }
    }

    /// Begins an export: counts it against the user's limit, and returns account and profile.
    ///
    /// # Errors
    /// [`Refusal::RateLimited`]; [`Refusal::NotLoggedIn`] for an unknown or deleted user; [`Failure::Store`]
    /// if the store fails.
    pub async fn begin(&self, user: UserId, now: Timestamp) -> Result<(User, Profile), Failure> {
        self.context.within(Some(EXPORTS), "export", user, now).await?;
        let users = &self.context.storage.people.users;
        let (Some(is), Some(card)) = (users.get(user).await?, users.card(user).await?) else {
            return Err(Refusal::NotLoggedIn.into());
        };
        if is.deleted.is_some() {
            return Err(Refusal::NotLoggedIn.into());
        }
        Ok((is, card))
    }

    /// Returns a page of the orders, newest first, counted from 1; empty behind the last page. Claims that
    /// are not yet orders are left out.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
    pub async fn orders(&self, user: UserId, page: u32) -> Result<Vec<ExportedOrder>, Failure> {
        let rows = self.context.storage.selling.orders.of_user(user, Page::new(page, PAGE)).await?;
        let mut orders = Vec::with_capacity(rows.len());
        for view in self.orders.queries().views(rows).await? {
            let receipt = match view.order.status {
                OrderStatus::Paid | OrderStatus::Used => Some(self.receipts.code_of(view.order.id).await?),
                _ => None,
            };
            orders.push(ExportedOrder { view, receipt });
        }
        Ok(orders)
    }

    /// Returns the places in waiting lists with a number above `after`, by number; empty behind the last.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
    pub async fn waiting_lists(&self, user: UserId, after: u64) -> Result<Vec<WaitingEntry>, Failure> {
        Ok(self.context.storage.selling.waiting_lists.of_user(user, after, PAGE).await?)
    }

    /// Returns the attempts in judged sales with a number above `after`, by number; empty behind the last.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
    pub async fn attempts(&self, user: UserId, after: u64) -> Result<Vec<StoredAttempt>, Failure> {
        Ok(self.context.storage.selling.attempts.of_user(user, after, PAGE).await?)
    }

    /// Returns the notes with an id above `after`, by id; empty behind the last.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
    pub async fn notes(&self, user: UserId, after: NoteId) -> Result<Vec<Note>, Failure> {
        Ok(self.context.storage.people.personal_data.notes(user, after, PAGE).await?)
    }

    /// Returns the comments with an id above `after`, by id; empty behind the last.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
    pub async fn comments(&self, user: UserId, after: CommentId) -> Result<Vec<Comment>, Failure> {
        Ok(self.context.storage.people.personal_data.comments(user, after, PAGE).await?)
    }

    /// Returns the likes behind `after`; empty behind the last.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
    pub async fn likes(&self, user: UserId, after: Option<Post>) -> Result<Vec<GivenLike>, Failure> {
        Ok(self.context.storage.people.personal_data.likes(user, after, PAGE).await?)
    }

    /// Returns the reviews with an id above `after`, by id; empty behind the last.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
    pub async fn reviews(&self, user: UserId, after: ReviewId) -> Result<Vec<Review>, Failure> {
        Ok(self.context.storage.people.personal_data.reviews(user, after, PAGE).await?)
    }

    /// Returns vote lines from a place on, archived lines included, and the next place; `None` at the end. A
    /// line that is archived during the export may appear twice.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails, or a file of the archive is missing or damaged.
    pub async fn votes(
        &self,
        user: UserId,
        mut place: VotePlace,
    ) -> Result<Option<(Vec<VoteLine>, VotePlace)>, Failure> {
        let storage = &self.context.storage;
        let archived = ArchivedVotes::of(storage);
        loop {
            // The table first: a line that leaves the table meanwhile is found in the archive.
            let lines = match place {
                VotePlace::Table(after) => {
                    let lines = storage.people.personal_data.vote_lines(user, after, PAGE).await?;
                    let last = lines.last().map(|last| (last.review, last.number));
                    place = last.map_or(VotePlace::Behind(None), |last| VotePlace::Table(Some(last)));
                    lines
                }
                VotePlace::Within(day, at) => {
                    let (lines, next) = archived.lines_of(user, day, at).await?;
                    place = next.map_or(VotePlace::Behind(Some(day)), |at| VotePlace::Within(day, at));
                    lines
                }
                VotePlace::Behind(after) => {
                    let archive = &storage.operator.archive;
                    let days = archive.days_of(ArchiveLedger::Votes, user, after, 1).await?;
                    let Some(next) = days.first() else { return Ok(None) };
                    place = VotePlace::Within(next.day, 0);
                    Vec::new()
                }
            };
            if !lines.is_empty() {
                return Ok(Some((lines, place)));
            }
        }
    }

    /// Returns the credit lines with a number below `before`, newest first; empty behind the oldest.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
    pub async fn credits(&self, user: UserId, before: Option<u64>) -> Result<Vec<CreditLine>, Failure> {
        Ok(self.context.storage.people.credits.lines(user, before, PAGE).await?)
    }

    /// Returns a page of the followed users, newest first, counted from 1; empty behind the last page.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
    pub async fn followees(&self, user: UserId, page: u32) -> Result<Vec<PublicUser>, Failure> {
        let followees = self.context.storage.people.follows.followees(user, Page::new(page, PAGE)).await?;
        PublicUser::of(&self.context, &followees).await
    }

    /// Returns the days signed since the registration.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
    pub async fn sign_ins(&self, user: &User, now: Timestamp) -> Result<Vec<SignedDay>, Failure> {
        let (mut next, today) = (self.context.day_of(user.created), self.context.day_of(now));
        let mut days = Vec::new();
        while let (Some(first), Some(today)) = (next, today)
            && let Some(span) = span_from(first, today)
        {
            days.extend(self.context.storage.people.sign_ins.days(user.id, span).await?);
            next = Day::from_number(span.last().number() + 1);
        }
        Ok(days)
    }
}

/// Returns the longest span from `first`, up to `last`; `None` if `last` is before `first`.
fn span_from(first: Day, last: Day) -> Option<DaySpan> {
    let days = i32::try_from(DaySpan::MAX_DAYS).ok()?;
    let end = Day::from_number(first.number().checked_add(days - 1)?).filter(|end| *end < last);
    DaySpan::new(first, end.unwrap_or(last))
}
