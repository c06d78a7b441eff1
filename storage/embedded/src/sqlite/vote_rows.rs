//! Rows of votes: the ledger and the marks.

use mallbox_storage::backend::{Numbered as _, VotedReview};
use mallbox_storage::{ReviewId, Timestamp, UserId, VoteCause, VoteLine};
use rusqlite::{Connection, OptionalExtension as _, Params, Row};

use super::columns::{get_count, get_id, get_known, get_time, id};

/// Head of every query for lines; [`line()`] reads the columns.
const SELECT: &str = "SELECT review_id, number, user_id, cause, amount, sum_after, at_ms FROM vote_lines";

/// Returns the lines selected by the rest of a query, after the columns and the table.
pub(super) fn list(conn: &Connection, rest: &str, which: impl Params) -> rusqlite::Result<Vec<VoteLine>> {
    conn.prepare_cached(&format!("{SELECT} {rest}"))?.query_map(which, line)?.collect()
}

/// Returns number and cause of a user's newest line.
pub(super) fn last_of(
    conn: &Connection,
    review: ReviewId,
    user: UserId,
) -> rusqlite::Result<Option<(u64, VoteCause)>> {
    conn.prepare_cached(
        "SELECT number, cause FROM vote_lines WHERE user_id = ?1 AND review_id = ?2
         ORDER BY number DESC LIMIT 1",
    )?
    .query_row([id(user.get()), id(review.get())], |row| Ok((get_count(row, 0)?, get_known(row, 1)?)))
    .optional()
}

/// Appends a line, and stores number and sum with the review.
pub(super) fn append(conn: &Connection, line: &VoteLine) -> rusqlite::Result<()> {
    let review = id(line.review.get());
    let user = line.user.map_or(0, |user| id(user.get()));
    conn.prepare_cached(
        "INSERT INTO vote_lines (review_id, number, user_id, cause, amount, sum_after, at_ms)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?
    .execute([
        review,
        id(line.number),
        user,
        line.cause.number(),
        line.change,
        id(line.sum),
        line.at.as_millis(),
    ])?;
    conn.prepare_cached("UPDATE reviews SET vote_lines = ?2, votes = ?3 WHERE id = ?1")?
        .execute([review, id(line.number), id(line.sum)])
        .map(drop)
}

/// Takes all votes from a review that counts no longer, or not yet.
pub(super) fn close(
    conn: &Connection,
    review: ReviewId,
    row: &VotedReview,
    now: Timestamp,
) -> rusqlite::Result<()> {
    let Some(line) = row.closing_line(review, now) else { return Ok(()) };
    append(conn, &line)?;
    conn.prepare_cached("UPDATE reviews SET closed_line = ?2 WHERE id = ?1")?
        .execute([id(review.get()), id(line.number)])?;
    conn.prepare_cached("DELETE FROM vote_marks WHERE review_id = ?1")?.execute([id(review.get())]).map(drop)
}

fn line(row: &Row<'_>) -> rusqlite::Result<VoteLine> {
    let user = get_id(row, 2)?;
    Ok(VoteLine {
        review: ReviewId::new(get_id(row, 0)?),
        number: get_count(row, 1)?,
        user: (user != 0).then(|| UserId::new(user)),
        cause: get_known(row, 3)?,
        change: row.get(4)?,
        sum: get_count(row, 5)?,
        at: get_time(row, 6)?,
    })
}
