//! Rows of reviews: reading and locking them, and their pictures.

use mallbox_storage::backend::VotedReview;
use mallbox_storage::{
    Cents, OrderId, Review, ReviewId, ReviewOrigin, ReviewReply, ReviewState, ReviewTags, ReviewText, ShopId,
    Stars, UserId,
};
use mysql_async::{Conn, Value};

use super::columns::{Columns, execute, first};
use super::errors::MysqlError;
use super::multi_row;

/// Start of every query for reviews; read by [`review`].
pub(super) const SELECT: &str = "SELECT id, shop_id, user_id, origin, order_id, half_stars, content, images,
    average_price, tags, votes, vote_lines, status, is_folded, is_edited, reply, reply_ms, created_ms,
    updated_ms FROM reviews";

/// A locked review, as far as votes and score depend on it.
pub(super) struct LockedReview {
    /// Id of the shop.
    pub shop: u64,
    /// The rating.
    pub stars: Stars,
    /// What votes depend on.
    pub voted: VotedReview,
}

/// Locks a review until the transaction ends. A shop's row is locked after its reviews' rows.
pub(super) async fn lock(conn: &mut Conn, which: ReviewId) -> Result<Option<LockedReview>, MysqlError> {
    let sql = "SELECT shop_id, half_stars, user_id, votes, vote_lines, closed_line, status, is_folded
               FROM reviews WHERE id = ? FOR UPDATE";
    let read = |row: &mut Columns| {
        let (shop, stars) = (row.next()?, stars(row)?);
        let (author, votes, lines) = (UserId::new(row.next()?), row.count()?, row.count()?);
        let closed_line = row.count()?;
        let state = ReviewState { visibility: row.known()?, is_folded: row.next()? };
        Ok(LockedReview { shop, stars, voted: VotedReview { author, state, votes, lines, closed_line } })
    };
    first(conn, sql, (which.get(),), read).await
}

/// Lists the pictures of a review, which keeps them.
pub(super) async fn write_pictures(
    conn: &mut Conn,
    review: u64,
    text: &ReviewText,
) -> Result<(), MysqlError> {
    let pictures: Vec<[Value; 2]> =
        text.pictures().into_iter().map(|name| [name.into(), review.into()]).collect();
    multi_row::insert(conn, "INSERT INTO review_pictures (name, review_id)", "(?, ?)", &pictures).await
}

/// Removes the list of a review's pictures.
pub(super) async fn forget_pictures(conn: &mut Conn, review: ReviewId) -> Result<(), MysqlError> {
    let sql = "DELETE FROM review_pictures WHERE review_id = ?";
    execute(conn, sql, (review.get(),)).await.map(drop)
}

fn stars(row: &mut Columns) -> Result<Stars, MysqlError> {
    let half_stars = row.next()?;
    Stars::from_half_stars(half_stars).ok_or_else(|| row.unreadable_last(half_stars))
}

/// Reads a review.
pub(super) fn review(row: &mut Columns) -> Result<Review, MysqlError> {
    let (id, shop, author) = (ReviewId::new(row.next()?), ShopId::new(row.next()?), UserId::new(row.next()?));
    let (origin, order) = (row.next()?, row.next::<Option<u64>>()?.map(OrderId::new));
    let origin = ReviewOrigin::from_row(origin, order).ok_or_else(|| row.unreadable_last(origin))?;
    let (stars, content, images) = (stars(row)?, row.next()?, row.next()?);
    let (average_price, tags) = (row.next::<Option<i64>>()?.map(Cents::new), row.next()?);
    let tags = ReviewTags::from_row(tags).ok_or_else(|| row.unreadable_last(tags))?;
    let text = ReviewText { stars, content, images, average_price, tags };
    let (votes, vote_lines) = (row.count()?, row.count()?);
    let state = ReviewState { visibility: row.known()?, is_folded: row.next()? };
    let is_edited = row.next()?;
    let (reply, replied) = (row.next::<Option<String>>()?, row.time_if_any()?);
    Ok(Review {
        id,
        shop,
        author,
        origin,
        text,
        votes,
        vote_lines,
        state,
        is_edited,
        reply: reply.zip(replied).map(|(content, at)| ReviewReply { content, at }),
        created: row.time()?,
        updated: row.time()?,
    })
}
