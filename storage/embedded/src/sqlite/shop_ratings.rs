//! Score and comment count of a shop, kept in the transaction of each review.

use mallbox_storage::Stars;
use mallbox_storage::backend::ShopRating;
use rusqlite::{Connection, OptionalExtension as _};

/// Changes the shop's rating by one review, from `was` to `is`; `None` stands for one that does not count.
pub(super) fn change(
    conn: &Connection,
    shop: i64,
    was: Option<Stars>,
    is: Option<Stars>,
) -> rusqlite::Result<()> {
    let rating = conn
        .prepare_cached(
            "SELECT imported_score, imported_comments, review_count, half_star_sum FROM shops WHERE id = ?1",
        )?
        .query_row([shop], |row| {
            Ok(ShopRating {
                imported_score: row.get(0)?,
                imported_comments: row.get(1)?,
                reviews: row.get(2)?,
                half_stars: row.get(3)?,
            })
        })
        .optional()?;
    let Some(rating) = rating else { return Ok(()) };
    let rating = rating.after(was, is);
    conn.prepare_cached(
        "UPDATE shops SET review_count = ?2, half_star_sum = ?3, score = ?4, comments = ?5 WHERE id = ?1",
    )?
    .execute([shop, rating.reviews, rating.half_stars, rating.score(), rating.comments()])
    .map(drop)
}

/// Stores the score and the comments that a new shop brings along.
pub(super) fn bring_along(conn: &Connection, shop: i64, score: i64, comments: i64) -> rusqlite::Result<()> {
    conn.prepare_cached(
        "UPDATE shops SET score = ?2, imported_score = ?2, comments = ?3, imported_comments = ?3 WHERE id = ?1",
    )?
    .execute([shop, score, comments])
    .map(drop)
}

/// Stores the scores and the comments of imported shops as brought along, at the end of an import.
pub(super) fn bring_imported_along(conn: &Connection) -> rusqlite::Result<()> {
    conn.execute(
        "UPDATE shops SET imported_score = score, imported_comments = comments WHERE review_count = 0",
        [],
    )
    .map(drop)
}
