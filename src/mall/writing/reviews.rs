//! Reviews of shops by their buyers: writing, reading, votes and deletion.
//!
//! Reasons: `src/decisions/0052-reviews.md`.

mod form;
pub(in crate::mall) mod marks;
mod recommended;

use std::collections::HashSet;
use std::sync::Arc;

use mallbox_storage::{
    NewReview, OrderId, OrderReview, Page, Post, Review, ReviewCounts, ReviewCursor, ReviewFilter, ReviewId,
    ReviewOrder, ReviewOrigin, ReviewOutcome, ShopId, Timestamp, UserId, Visibility, VoteOutcome,
};

use self::recommended::RecommendedIds;
use super::authors::Authors;
use super::post_pictures::check_uploads;
use super::removal::{Removal, Remover, remove};
use super::{Pictures, within_limit};
use crate::mall::base::cache_aside::{CacheAside, CacheMetrics};
use crate::mall::base::idempotency_key::check_idempotency_key;
use crate::mall::base::{AuditLog, Context, Failure, Refusal};
use crate::mall::people::accounts::PublicUser;

pub use form::ReviewForm;
pub use recommended::RECOMMENDED_MAX;

/// Reviews per page.
const PAGE: u32 = 10;

/// A review as shown to a reader.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReviewView {
    /// The stored review.
    pub review: Review,
    /// The review's author.
    pub author: PublicUser,
    /// Whether the reader sees an own vote.
    pub is_voted: bool,
    /// Whether the reader wrote the review.
    pub is_own: bool,
}

/// What the reviews of a shop say together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReviewSummary {
    /// Score of the shop in stars × 10; 0 without any review.
    pub score: i64,
    /// Number of reviews, those of another mall included.
    pub comments: i64,
    /// Number of reviews here, by kind.
    pub counts: ReviewCounts,
}

/// The sum of a review's votes after a vote.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VoteSum {
    /// Number of votes.
    pub votes: u64,
    /// Number of the newest line of the review's votes; 0 without one.
    pub number: u64,
}

/// The service for reviews.
pub struct Reviews {
    context: Context,
    audit: AuditLog,
    pictures: Pictures,
    recommended: CacheAside<RecommendedIds>,
}

impl Reviews {
    /// Creates the service.
    #[must_use]
    pub fn new(context: Context, audit: AuditLog, pictures: Pictures) -> Self {
        let recommended = CacheAside::new(&context.storage, recommended::POLICY);
        Self { context, audit, pictures, recommended }
    }

    /// Returns the cache metrics of the recommended reviews.
    #[must_use]
    pub fn cache_figures(&self) -> Arc<CacheMetrics> {
        self.recommended.figures()
    }

    /// Stores the review of a used order. A repeat with the same request name (1 to 64 characters) and
    /// contents returns the review of the first call.
    ///
    /// # Errors
    /// `InputError` for an invalid form, [`Refusal::BadValue`] for an invalid request name;
    /// [`Refusal::NotFound`] for an order that is not the author's, and for a picture that the author did not
    /// upload; [`Refusal::OrderNotUsed`], [`Refusal::AlreadyReviewed`],
    /// [`Refusal::ReviewDiffers`] for a repeat with other contents; [`Refusal::RateLimited`]. A repeat with
    /// the same request name and contents resolves the doubt after [`Failure::Store`].
    pub async fn write(
        &self,
        author: UserId,
        order: OrderId,
        form: &ReviewForm,
        request: Option<String>,
        now: Timestamp,
    ) -> Result<ReviewId, Failure> {
        let text = form.text()?;
        let request = request.map(check_idempotency_key).transpose()?.unwrap_or_default();
        let storage = &self.context.storage;
        let found = storage.selling.orders.get(order).await?.filter(|found| found.user == author);
        let found = found.ok_or(Refusal::NotFound("order"))?;
        let voucher = storage.catalogue.vouchers.get(found.voucher).await?;
        let shop = voucher.ok_or(Refusal::NotFound("shop"))?.text.shop;
        within_limit(&self.context, author, now).await?;
        check_uploads(&self.pictures, author, text.pictures(), now).await?;
        let review = NewReview { author, shop, origin: ReviewOrigin::Order(order), text, request };
        let written = storage.writing.reviews.insert(&review, now).await;
        self.context.copies.shops.changed(&[shop]).await;
        match written? {
            ReviewOutcome::Written(review) => {
                // An hour would be long for a shop's first reviews.
                self.recommended.changed(&[shop]).await;
                Ok(review)
            }
            ReviewOutcome::AlreadyReviewed(review) => Err(Refusal::AlreadyReviewed(review).into()),
            ReviewOutcome::Differs(review) => Err(Refusal::ReviewDiffers(review).into()),
            ReviewOutcome::NoSuchOrder => Err(Refusal::NotFound("order").into()),
            ReviewOutcome::NotUsed => Err(Refusal::OrderNotUsed.into()),
            ReviewOutcome::NoSuchShop => Err(Refusal::NotFound("shop").into()),
        }
    }

    /// Replaces the contents of the author's own review.
    ///
    /// # Errors
    /// `InputError` for an invalid form; [`Refusal::NotFound`] for a review of anybody else, or a deleted
    /// one, and for a picture that the author did not upload; [`Refusal::RateLimited`].
    pub async fn edit(
        &self,
        author: UserId,
        review: ReviewId,
        form: &ReviewForm,
        now: Timestamp,
    ) -> Result<(), Failure> {
        let text = form.text()?;
        let reviews = &self.context.storage.writing.reviews;
        let found = reviews.get(review).await?.filter(|found| found.author == author);
        let found = found.ok_or(Refusal::NotFound("review"))?;
        within_limit(&self.context, author, now).await?;
        check_uploads(&self.pictures, author, text.pictures(), now).await?;
        let edited = reviews.edit(review, author, &text, now).await;
        self.context.copies.shops.changed(&[found.shop]).await;
        if edited? { Ok(()) } else { Err(Refusal::NotFound("review").into()) }
    }

    /// Deletes a review for good, on behalf of its author or of an operator. An operator's deletion goes to
    /// the audit log. A repeated call is no error.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::Forbidden`] for any other user; [`Refusal::SecondFactor`] for an
    /// operator who has not given the second factor.
    pub async fn remove(&self, review: ReviewId, by: Remover, now: Timestamp) -> Result<(), Failure> {
        let found = self.context.storage.writing.reviews.get(review).await?;
        let found = found.ok_or(Refusal::NotFound("review"))?;
        let target = Post::Review(review);
        let removal = Removal { target, author: found.author, visibility: found.state.visibility };
        remove(&self.context, &self.audit, removal, by, now).await
    }

    /// Returns a visible review.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], for hidden and deleted reviews too, except to the author of a hidden one.
    pub async fn get(
        &self,
        review: ReviewId,
        reader: Option<UserId>,
        now: Timestamp,
    ) -> Result<ReviewView, Failure> {
        let found = self.context.storage.writing.reviews.get(review).await?;
        let seen = found.filter(|found| {
            let visibility = found.state.visibility;
            visibility.is_seen() || reader == Some(found.author) && visibility != Visibility::Deleted
        });
        let view = self.views(seen.into_iter().collect(), reader, now).await?.pop();
        Ok(view.ok_or(Refusal::NotFound("review"))?)
    }

    /// Returns a page of ten of a shop's reviews, of those behind `after`, and the number of all that match.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
    pub async fn of_shop(
        &self,
        filter: &ReviewFilter,
        order: ReviewOrder,
        after: Option<ReviewCursor>,
        page: u32,
        reader: Option<UserId>,
        now: Timestamp,
    ) -> Result<(Vec<ReviewView>, u64), Failure> {
        let reviews = &self.context.storage.writing.reviews;
        let found = reviews.of_shop(filter, order, after, Page::new(page, PAGE)).await?;
        let total = reviews.count(filter).await?;
        Ok((self.views(found, reader, now).await?, total))
    }

    /// Returns the recommended reviews of a shop from place `start` to place `stop`, counted from 0: those
    /// with the most votes, in an order of the last hour. Votes, texts and what may be seen are those of now.
    ///
    /// # Errors
    /// [`Refusal::BadValue`] for places from [`RECOMMENDED_MAX`] on, and for a `stop` before `start`;
    /// [`Refusal::Busy`] while the database is slow and no list is cached.
    pub async fn recommended(
        &self,
        shop: ShopId,
        start: u32,
        stop: u32,
        reader: Option<UserId>,
        now: Timestamp,
    ) -> Result<Vec<ReviewView>, Failure> {
        if start > stop || stop >= RECOMMENDED_MAX {
            return Err(Refusal::BadValue("stop").into());
        }
        let ids = self.recommended.get(shop, now).await?.map(|list| list.0).unwrap_or_default();
        let places = (stop - start + 1) as usize;
        let ids: Vec<ReviewId> = ids.into_iter().skip(start as usize).take(places).collect();
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let mut found = self.context.storage.writing.reviews.those(&ids).await?;
        found.retain(|review| review.state.is_counted());
        self.views(found, reader, now).await
    }

    /// Returns what the reviews of a shop say together.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] for an unknown shop.
    pub async fn summary(&self, shop: ShopId, now: Timestamp) -> Result<ReviewSummary, Failure> {
        let found = self.context.copies.shops.get(shop, now).await?.ok_or(Refusal::NotFound("shop"))?;
        let counts = self.context.storage.writing.reviews.counts(shop).await?;
        Ok(ReviewSummary { score: found.text.score, comments: found.text.comments, counts })
    }

    /// Returns a page of the author's own reviews, hidden ones included, newest first.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
    pub async fn of_author(
        &self,
        author: UserId,
        page: u32,
        now: Timestamp,
    ) -> Result<Vec<ReviewView>, Failure> {
        let found = self.context.storage.writing.reviews.of_author(author, Page::new(page, PAGE)).await?;
        self.views(found, Some(author), now).await
    }

    /// Returns the reviews of the user's orders, deleted ones included. Orders without one are left out.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
    pub async fn of_orders(&self, author: UserId, orders: &[OrderId]) -> Result<Vec<OrderReview>, Failure> {
        Ok(self.context.storage.writing.reviews.of_orders(author, orders).await?)
    }

    /// Votes for a review, or takes the vote back; idempotent.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] for an unknown or invisible review, [`Refusal::ReviewFolded`],
    /// [`Refusal::OwnReview`], [`Refusal::RateLimited`]. After [`Failure::Store`] the vote is in doubt, and a
    /// repeat counts it once.
    pub async fn vote(
        &self,
        user: UserId,
        review: ReviewId,
        up: bool,
        now: Timestamp,
    ) -> Result<VoteSum, Failure> {
        self.context.count_action(user, now).await?;
        match self.context.storage.writing.votes.vote(review, user, up, now).await? {
            VoteOutcome::Counted { sum, number, .. } => Ok(VoteSum { votes: sum, number }),
            VoteOutcome::NoSuchReview => Err(Refusal::NotFound("review").into()),
            VoteOutcome::Folded => Err(Refusal::ReviewFolded.into()),
            VoteOutcome::OwnReview => Err(Refusal::OwnReview.into()),
        }
    }

    /// Adds authors, and the reader's own votes.
    async fn views(
        &self,
        reviews: Vec<Review>,
        reader: Option<UserId>,
        now: Timestamp,
    ) -> Result<Vec<ReviewView>, Failure> {
        let authors = Authors::of(&self.context, reviews.iter().map(|review| review.author)).await?;
        let ids: Vec<ReviewId> = reviews.iter().map(|review| review.id).collect();
        let voted: HashSet<ReviewId> = match reader {
            Some(reader) if !ids.is_empty() => {
                self.context.storage.writing.votes.marked(reader, &ids, now).await?.into_iter().collect()
            }
            _ => HashSet::new(),
        };
        let view = |review: Review| ReviewView {
            author: authors.brief(review.author),
            is_voted: voted.contains(&review.id),
            is_own: reader == Some(review.author),
            review,
        };
        Ok(reviews.into_iter().map(view).collect())
    }
}
