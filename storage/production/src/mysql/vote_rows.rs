//! Rows of votes: the ledger and the marks.

use mallbox_storage::backend::{Numbered as _, VotedReview};
use mallbox_storage::{ReviewId, Timestamp, UserId, VoteCause, VoteLine};
use mysql_async::Conn;

use super::columns::{Columns, execute, first};
use super::errors::MysqlError;

/// Start of every query for lines; read by [`line()`].
pub(super) const SELECT: &str =
    "SELECT review_id, number, user_id, cause, amount, sum_after, at_ms FROM vote_lines";

/// Returns number and cause of a user's newest line. Call with the review locked.
pub(super) async fn last_of(
    conn: &mut Conn,
    review: ReviewId,
    user: UserId,
) -> Result<Option<(u64, VoteCause)>, MysqlError> {
    let sql = "SELECT number, cause FROM vote_lines WHERE user_id = ? AND review_id = ?
               ORDER BY number DESC LIMIT 1";
    first(conn, sql, (user.get(), review.get()), |row| Ok((row.count()?, row.known()?))).await
}

/// Appends a line, and stores number and sum with the review. Call with the review locked.
pub(super) async fn append(conn: &mut Conn, line: &VoteLine) -> Result<(), MysqlError> {
    let VoteLine { review, number, user, cause, change, sum, at } = *line;
    let sql = "INSERT INTO vote_lines (review_id, number, user_id, cause, amount, sum_after, at_ms)
               VALUES (?, ?, ?, ?, ?, ?, ?)";
    let user = user.map_or(0, UserId::get);
    let values = (review.get(), number, user, cause.number(), change, sum, at.as_millis());
    execute(conn, sql, values).await?;
    let sql = "UPDATE reviews SET vote_lines = ?, votes = ? WHERE id = ?";
    execute(conn, sql, (number, sum, review.get())).await.map(drop)
}

/// Takes all votes from a locked review that counts no longer, or not yet.
pub(super) async fn close(
    conn: &mut Conn,
    review: ReviewId,
    row: &VotedReview,
    now: Timestamp,
) -> Result<(), MysqlError> {
    let Some(line) = row.closing_line(review, now) else { return Ok(()) };
    append(conn, &line).await?;
    let sql = "UPDATE reviews SET closed_line = ? WHERE id = ?";
    execute(conn, sql, (line.number, review.get())).await?;
    execute(conn, "DELETE FROM vote_marks WHERE review_id = ?", (review.get(),)).await.map(drop)
}

/// Reads a line.
pub(super) fn line(row: &mut Columns) -> Result<VoteLine, MysqlError> {
    let (review, number, user) = (ReviewId::new(row.next()?), row.count()?, row.next()?);
    Ok(VoteLine {
        review,
        number,
        user: (user != 0).then(|| UserId::new(user)),
        cause: row.known()?,
        change: row.next()?,
        sum: row.count()?,
        at: row.time()?,
    })
}
