//! Rows of reviews: reading them, and their pictures.

use mallbox_storage::backend::VotedReview;
use mallbox_storage::{
    Cents, OrderId, Review, ReviewId, ReviewOrigin, ReviewReply, ReviewState, ReviewTags, ReviewText, ShopId,
    Stars, Timestamp, UserId,
};
use rusqlite::{Connection, OptionalExtension as _, Params, Row, params};

use super::columns::{get_count, get_id, get_known, get_time, id};
use super::errors::unreadable;

/// Head of every query for reviews; [`review`] reads the columns.
const SELECT: &str = "SELECT id, shop_id, user_id, origin, order_id, half_stars, content, images,
    average_price, tags, votes, vote_lines, status, is_folded, is_edited, reply, reply_ms, created_ms,
    updated_ms FROM reviews";

/// A review as far as votes and score depend on it.
pub(super) struct LockedReview {
    /// Stored id of the shop.
    pub shop: i64,
    /// The rating.
    pub stars: Stars,
    /// What votes depend on.
    pub voted: VotedReview,
}

/// Returns the reviews selected by the rest of a query, after the columns and the table.
pub(super) fn list(conn: &Connection, rest: &str, which: impl Params) -> rusqlite::Result<Vec<Review>> {
    conn.prepare_cached(&format!("{SELECT} {rest}"))?.query_map(which, review)?.collect()
}

/// Reads what a change depends on, in the transaction of the change.
pub(super) fn locked(conn: &Connection, which: ReviewId) -> rusqlite::Result<Option<LockedReview>> {
    conn.prepare_cached(
        "SELECT shop_id, half_stars, user_id, votes, vote_lines, closed_line, status, is_folded
         FROM reviews WHERE id = ?1",
    )?
    .query_row([id(which.get())], |row| {
        Ok(LockedReview {
            shop: row.get(0)?,
            stars: stars(row, 1)?,
            voted: VotedReview {
                author: UserId::new(get_id(row, 2)?),
                votes: get_count(row, 3)?,
                lines: get_count(row, 4)?,
                closed_line: get_count(row, 5)?,
                state: ReviewState { visibility: get_known(row, 6)?, is_folded: row.get(7)? },
            },
        })
    })
    .optional()
}

/// Lists the pictures of a review, which keeps them.
pub(super) fn write_pictures(conn: &Connection, review: i64, text: &ReviewText) -> rusqlite::Result<()> {
    let mut add = conn.prepare_cached("INSERT INTO review_pictures (name, review_id) VALUES (?1, ?2)")?;
    for name in text.pictures() {
        add.execute(params![name, review])?;
    }
    Ok(())
}

/// Removes the list of a review's pictures.
pub(super) fn forget_pictures(conn: &Connection, review: i64) -> rusqlite::Result<()> {
    conn.prepare_cached("DELETE FROM review_pictures WHERE review_id = ?1")?.execute([review]).map(drop)
}

fn stars(row: &Row<'_>, column: usize) -> rusqlite::Result<Stars> {
    let half_stars = row.get(column)?;
    Stars::from_half_stars(half_stars).ok_or_else(|| unreadable(column, half_stars))
}

fn review(row: &Row<'_>) -> rusqlite::Result<Review> {
    let (origin, tags): (i64, i64) = (row.get(3)?, row.get(9)?);
    let order = row.get::<_, Option<i64>>(4)?.map(|order| OrderId::new(order.cast_unsigned()));
    let replied: Option<i64> = row.get(16)?;
    let reply: Option<String> = row.get(15)?;
    Ok(Review {
        id: ReviewId::new(get_id(row, 0)?),
        shop: ShopId::new(get_id(row, 1)?),
        author: UserId::new(get_id(row, 2)?),
        origin: ReviewOrigin::from_row(origin, order).ok_or_else(|| unreadable(3, origin))?,
        text: ReviewText {
            stars: stars(row, 5)?,
            content: row.get(6)?,
            images: row.get(7)?,
            average_price: row.get::<_, Option<i64>>(8)?.map(Cents::new),
            tags: ReviewTags::from_row(tags).ok_or_else(|| unreadable(9, tags))?,
        },
        votes: get_count(row, 10)?,
        vote_lines: get_count(row, 11)?,
        state: ReviewState { visibility: get_known(row, 12)?, is_folded: row.get(13)? },
        is_edited: row.get(14)?,
        reply: reply
            .zip(replied)
            .map(|(content, at)| ReviewReply { content, at: Timestamp::from_millis(at) }),
        created: get_time(row, 17)?,
        updated: get_time(row, 18)?,
    })
}
