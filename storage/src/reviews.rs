//! Reviews: what buyers say about a shop, and what they make of its score.
//!
//! Reasons: `src/decisions/0052-reviews.md`.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{
    OrderId, OrderStatus, Page, ReviewId, ReviewText, ShopId, StoreError, Timestamp, UserId, Visibility,
};

/// Where a review comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum ReviewOrigin {
    /// A used order of the author at the shop.
    Order(OrderId),
    /// An import from another mall.
    Imported,
    /// The demo data.
    Demo,
}

impl ReviewOrigin {
    /// Returns kind and order, as stored in a row.
    pub fn in_row(self) -> (i64, Option<OrderId>) {
        match self {
            Self::Order(order) => (0, Some(order)),
            Self::Imported => (1, None),
            Self::Demo => (2, None),
        }
    }

    /// Converts a stored kind and order; `None` for a pair never written.
    pub fn from_row(kind: i64, order: Option<OrderId>) -> Option<Self> {
        match (kind, order) {
            (0, Some(order)) => Some(Self::Order(order)),
            (1, None) => Some(Self::Imported),
            (2, None) => Some(Self::Demo),
            _ => None,
        }
    }

    /// Returns the order that the review is about, if any.
    #[must_use]
    pub fn order(self) -> Option<OrderId> {
        self.in_row().1
    }
}

/// Who sees a review, and whether it counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ReviewState {
    /// Visibility of the review.
    pub visibility: Visibility,
    /// Whether an operator folded the review: listed apart, without votes and without weight in the score.
    pub is_folded: bool,
}

impl ReviewState {
    /// The state of a new review.
    pub const SHOWN: Self = Self { visibility: Visibility::Shown, is_folded: false };

    /// Returns whether the review makes part of the shop's score and accepts votes.
    #[must_use]
    pub fn is_counted(self) -> bool {
        self.visibility.is_seen() && !self.is_folded
    }
}

/// The reply of a shop to a review.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ReviewReply {
    /// Text of the reply.
    pub content: String,
    /// Time of writing, or of the last change.
    pub at: Timestamp,
}

/// A review with its state and votes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Review {
    /// Id of the review.
    pub id: ReviewId,
    /// The shop.
    pub shop: ShopId,
    /// Author of the review.
    pub author: UserId,
    /// Where the review comes from.
    pub origin: ReviewOrigin,
    /// Contents of the review; text and pictures are empty if deleted.
    pub text: ReviewText,
    /// Number of users who find the review helpful.
    pub votes: u64,
    /// Number of the newest line in the ledger of the review's votes; 0 without one.
    pub vote_lines: u64,
    /// Who sees the review, and whether it counts.
    pub state: ReviewState,
    /// Whether the author changed the contents after writing.
    pub is_edited: bool,
    /// The reply of the shop, if any.
    pub reply: Option<ReviewReply>,
    /// Time of writing.
    pub created: Timestamp,
    /// Time of the last change of contents or state.
    pub updated: Timestamp,
}

/// The review of an order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OrderReview {
    /// The order.
    pub order: OrderId,
    /// The review.
    pub review: ReviewId,
    /// Whether the review is deleted: the order cannot be reviewed again.
    pub is_deleted: bool,
}

/// A review to insert.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewReview {
    /// Author of the review.
    pub author: UserId,
    /// The shop.
    pub shop: ShopId,
    /// Where the review comes from.
    pub origin: ReviewOrigin,
    /// Contents of the review.
    pub text: ReviewText,
    /// Idempotency key of the request, at most 64 bytes; `""` for none.
    pub request: String,
}

impl NewReview {
    /// Decides whether the review is refused. `order` is the named order's user, status and shop, as stored;
    /// `earlier` the review of the order and its idempotency key.
    #[must_use]
    pub fn refusal(
        &self,
        order: Option<(u64, i64, u64)>,
        earlier: Option<&(Review, String)>,
    ) -> Option<ReviewOutcome> {
        let is_theirs = |user, shop| (user, shop) == (self.author.get(), self.shop.get());
        match (order, earlier) {
            (Some((user, _, shop)), _) if !is_theirs(user, shop) => Some(ReviewOutcome::NoSuchOrder),
            (None, _) => Some(ReviewOutcome::NoSuchOrder),
            (Some(_), Some((review, request))) => Some(self.repeat_of(review, request)),
            (Some((_, status, _)), None) if OrderStatus::in_row(status) != Some(OrderStatus::Used) => {
                Some(ReviewOutcome::NotUsed)
            }
            (Some(_), None) => None,
        }
    }

    /// Decides a review of an order that has the review `earlier`, stored under `request`.
    fn repeat_of(&self, earlier: &Review, request: &str) -> ReviewOutcome {
        let is_repeat = !request.is_empty() && request == self.request;
        if !is_repeat || earlier.state.visibility == Visibility::Deleted {
            ReviewOutcome::AlreadyReviewed(earlier.id)
        } else if earlier.text == self.text {
            ReviewOutcome::Written(earlier.id)
        } else {
            ReviewOutcome::Differs(earlier.id)
        }
    }
}

/// Outcome of inserting a review.
#[must_use]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReviewOutcome {
    /// The review is stored with these contents: by this call, or by an earlier one with the same idempotency
    /// key and order.
    Written(ReviewId),
    /// The order already has this review, under another key, or deleted. Nothing was written.
    AlreadyReviewed(ReviewId),
    /// The order has this review under the same key, with other contents: the caller changed the contents
    /// before the repeat, or the author edited the review. Nothing was written.
    Differs(ReviewId),
    /// The author has no such order at the shop. Nothing was written.
    NoSuchOrder,
    /// The order is not used. Nothing was written.
    NotUsed,
    /// The shop does not exist. Nothing was written.
    NoSuchShop,
}

/// Order of a list of reviews.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReviewOrder {
    /// Newest first, then highest id.
    Newest,
    /// Most votes first, then newest, then highest id.
    Best,
}

/// Filter of a shop's reviews. Only visible reviews are listed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReviewFilter {
    /// The shop.
    pub shop: ShopId,
    /// Only reviews with pictures.
    pub with_pictures: bool,
    /// Only reviews of so many [rounded](crate::Stars::rounded) stars.
    pub stars: Option<u8>,
    /// The folded reviews, instead of those that count.
    pub folded: bool,
}

/// Place of a review in a list: the list goes on behind it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReviewCursor {
    /// Votes of the review when it was listed; ignored where a list is by time.
    pub votes: u64,
    /// Time of writing.
    pub created: Timestamp,
    /// Id of the review.
    pub id: ReviewId,
}

/// Number of a shop's visible reviews, by kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ReviewCounts {
    /// Counted reviews by [rounded](crate::Stars::rounded) stars, from one star to five.
    pub stars: [u64; 5],
    /// Counted reviews with pictures.
    pub with_pictures: u64,
    /// Folded reviews.
    pub folded: u64,
}

impl ReviewCounts {
    /// Adds reviews of one kind: folded or not, of so many rounded stars, `with_pictures` of them with
    /// pictures.
    pub fn add(&mut self, is_folded: bool, stars: u8, reviews: u64, with_pictures: u64) {
        if is_folded {
            self.folded += reviews;
        } else if let Some(counted) = self.stars.get_mut(usize::from(stars).wrapping_sub(1)) {
            *counted += reviews;
            self.with_pictures += with_pictures;
        }
    }
}

/// Filter of the operators' list of reviews: a review must match every field that is set.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ReviewSearch {
    /// Only reviews of this shop.
    pub shop: Option<ShopId>,
    /// Only reviews of this visibility.
    pub visibility: Option<Visibility>,
    /// Only folded reviews, or only others.
    pub is_folded: Option<bool>,
}

/// Reviews in the database.
///
/// - Ids are assigned in ascending order and never reused. The existence of the author is not checked.
/// - An order has at most one review, for ever: a deleted review keeps its row and its order.
/// - Every change is a transaction of its own, durable when the call returns. The same transaction keeps
///   score and comment count of the shop ([`ShopText::score`](crate::ShopText::score)), exactly under any
///   concurrency: from the reviews that [count](ReviewState::is_counted) and what an import claimed.
/// - A review that counts no longer loses its votes in the same transaction
///   ([`Votes`](crate::Votes)), and begins at 0 when it counts again.
/// - Lists that are continued behind a cursor have no gaps: a review that stays in the list is returned
///   exactly once, except that one whose votes change meanwhile may be missed or returned twice in a list by
///   votes.
#[async_trait]
pub trait Reviews: Send + Sync {
    /// Inserts a review, visible to everybody at once. A review of an order requires that the order belongs
    /// to author and shop, and is used.
    ///
    /// Idempotent under one key: a repeat with the stored contents returns the review, a repeat with other
    /// contents is refused ([`ReviewOutcome::Differs`]). No change of contents is lost without a word.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing was inserted, or the response was lost; repeat with the same key and
    /// contents.
    async fn insert(&self, review: &NewReview, now: Timestamp) -> Result<ReviewOutcome, StoreError>;

    /// Returns a review by id, whatever its state.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn get(&self, review: ReviewId) -> Result<Option<Review>, StoreError>;

    /// Returns the reviews with these ids, whatever their state, in the order of `reviews`; unknown ids are
    /// left out.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn those(&self, reviews: &[ReviewId]) -> Result<Vec<Review>, StoreError>;

    /// Returns the author's reviews of these orders, in ascending order of the orders' ids. Deleted reviews
    /// are included; orders without a review are left out.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn of_orders(&self, author: UserId, orders: &[OrderId]) -> Result<Vec<OrderReview>, StoreError>;

    /// Returns a page of a shop's reviews, of those behind `after`; `None` begins.
    ///
    /// Cost: a page of the first number reads its reviews by index, and those that `with_pictures` and
    /// `stars` leave out.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn of_shop(
        &self,
        filter: &ReviewFilter,
        order: ReviewOrder,
        after: Option<ReviewCursor>,
        page: Page,
    ) -> Result<Vec<Review>, StoreError>;

    /// Counts a shop's reviews, by kind. Reads all of them.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn counts(&self, shop: ShopId) -> Result<ReviewCounts, StoreError>;

    /// Counts the reviews that match `filter`. Reads all of the shop's.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn count(&self, filter: &ReviewFilter) -> Result<u64, StoreError>;

    /// Returns a page of an author's reviews that are not deleted, newest first, then highest id.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn of_author(&self, author: UserId, page: Page) -> Result<Vec<Review>, StoreError>;

    /// Returns a page of all reviews that match `search`, newest first, then highest id, and their number.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn find(&self, search: &ReviewSearch, page: Page) -> Result<(Vec<Review>, u64), StoreError>;

    /// Replaces the contents of the author's review, and marks it as edited unless nothing changed. Votes
    /// stay. Returns `false` if the author has no such review, or it is deleted.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn edit(
        &self,
        review: ReviewId,
        author: UserId,
        text: &ReviewText,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Sets the state of a review, overriding earlier decisions. Returns the former state; `None` for an
    /// unknown review.
    ///
    /// As for a note ([`Notes::put_visibility`](crate::Notes::put_visibility)), the change closes all reports
    /// of the review, except a change to [`Visibility::Reported`]. [`Visibility::Deleted`] erases text,
    /// pictures, tags, price and reply, and is final: later calls change nothing.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn put_state(
        &self,
        review: ReviewId,
        state: ReviewState,
        now: Timestamp,
    ) -> Result<Option<ReviewState>, StoreError>;

    /// Sets the reply of the shop, or removes it. Returns `false` for an unknown or deleted review.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn put_reply(
        &self,
        review: ReviewId,
        reply: Option<&str>,
        now: Timestamp,
    ) -> Result<bool, StoreError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_read_as_it_was_written_and_unknown_numbers_are_none() {
        let order = OrderId::new(7);
        for origin in [ReviewOrigin::Order(order), ReviewOrigin::Imported, ReviewOrigin::Demo] {
            let (kind, order) = origin.in_row();
            assert_eq!(ReviewOrigin::from_row(kind, order), Some(origin));
        }
        for (kind, order) in [(0, None), (1, Some(order)), (2, Some(order)), (3, None), (-1, None)] {
            assert_eq!(ReviewOrigin::from_row(kind, order), None, "{kind} {order:?}");
        }
    }
}
