//! Score and comment count of a shop, kept in the transaction of each review.

use mallbox_storage::Stars;
use mallbox_storage::backend::ShopRating;
use mysql_async::Conn;

use super::columns::{Columns, execute, first};
use super::errors::MysqlError;

/// Changes the shop's rating by one review, from `was` to `is`; `None` stands for one that does not count.
/// Locks the shop, after the review.
pub(super) async fn change(
    conn: &mut Conn,
    shop: u64,
    was: Option<Stars>,
    is: Option<Stars>,
) -> Result<(), MysqlError> {
    let sql = "SELECT imported_score, imported_comments, review_count, half_star_sum FROM shops
               WHERE id = ? FOR UPDATE";
    let read = |row: &mut Columns| {
        Ok(ShopRating {
            imported_score: row.next()?,
            imported_comments: row.next()?,
            reviews: row.next()?,
            half_stars: row.next()?,
        })
    };
    let Some(rating) = first(conn, sql, (shop,), read).await? else { return Ok(()) };
    let rating = rating.after(was, is);
    let sql = "UPDATE shops SET review_count = ?, half_star_sum = ?, score = ?, comments = ? WHERE id = ?";
    let values = (rating.reviews, rating.half_stars, rating.score(), rating.comments(), shop);
    execute(conn, sql, values).await.map(drop)
}

/// Stores the scores and the comments of imported shops as brought along, at the end of an import.
pub(super) async fn bring_imported_along(conn: &mut Conn) -> Result<(), MysqlError> {
    let sql = "UPDATE shops SET imported_score = score, imported_comments = comments WHERE review_count = 0";
    execute(conn, sql, ()).await.map(drop)
}
