//! [`VoteLines`] in MySQL.

use std::collections::HashMap;

use async_trait::async_trait;
use mallbox_storage::{ReviewId, ReviewVotes, StoreError, Timestamp, VoteCursor, VoteLine, VoteLines};
use mysql_async::{Conn, Value};

use super::columns::{Columns, all, execute, first};
use super::database::Database;
use super::errors::MysqlError;
use super::job::boxed;
use super::vote_rows::line;

pub(super) struct MysqlVoteLines(pub(super) Database);

/// Columns of a line, as [`line()`] reads them.
const SELECT: &str = "SELECT l.review_id, l.number, l.user_id, l.cause, l.amount, l.sum_after, l.at_ms
    FROM vote_lines AS l";
/// Whether line `l` of review `r` neither is the newest nor a vote that may count: a later line of the voter
/// or a later closing line decides. Not sufficient for a vote taken back, see [`IS_LAST_WORD`].
const IS_SUPERSEDED: &str = "l.number < r.vote_lines AND (l.number <= r.closed_line OR l.cause = 2
    OR EXISTS (SELECT 1 FROM vote_lines AS n
               WHERE n.user_id = l.user_id AND n.review_id = l.review_id AND n.number > l.number))";
/// Whether line `l` of review `r` is a vote taken back, and the only line of the voter left.
const IS_LAST_WORD: &str = "l.number < r.vote_lines AND l.cause = 0
    AND NOT EXISTS (SELECT 1 FROM vote_lines AS n
                    WHERE n.user_id = l.user_id AND n.review_id = l.review_id AND n.number <> l.number)";
/// Keys per statement. Fewer keys are padded by repeating the last, so that each connection prepares few
/// statements.
const KEYS_PER_STATEMENT: usize = 256;

#[async_trait]
impl VoteLines for MysqlVoteLines {
    async fn first_since(&self, since: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        let sql = "SELECT at_ms FROM vote_lines WHERE at_ms >= ? ORDER BY at_ms LIMIT 1";
        let which = (since.as_millis(),);
        self.0
            .read("oldest line of votes", |conn| {
                boxed(async move { first(conn, sql, which, Columns::time).await })
            })
            .await
    }

    async fn between(
        &self,
        from: Timestamp,
        until: Timestamp,
        behind: Option<VoteCursor>,
        max: u32,
    ) -> Result<Vec<VoteLine>, StoreError> {
        // MySQL would not use the index for a comparison of rows.
        let sql: &str = &format!(
            "{SELECT} WHERE l.at_ms >= ? AND l.at_ms < ?
               AND (l.at_ms > ? OR l.at_ms = ? AND (l.review_id > ? OR l.review_id = ? AND l.number > ?))
             ORDER BY l.at_ms, l.review_id, l.number LIMIT ?"
        );
        let (at, review, number) = behind
            .map_or((i64::MIN, 0, 0), |behind| (behind.at.as_millis(), behind.review.get(), behind.number));
        let from = from.as_millis().max(at);
        let which = (from, until.as_millis(), at, at, review, review, number, max);
        self.0
            .read("lines of votes in time", |conn| boxed(async move { all(conn, sql, which, line).await }))
            .await
    }

    async fn of_reviews(
        &self,
        (review, number): (ReviewId, u64),
        last: ReviewId,
        max: u32,
    ) -> Result<Vec<VoteLine>, StoreError> {
        let sql: &str = &format!(
            "{SELECT} WHERE l.review_id >= ? AND l.review_id <= ? AND (l.review_id > ? OR l.number > ?)
             ORDER BY l.review_id, l.number LIMIT ?"
        );
        let which = (review.get(), last.get(), review.get(), number, max);
        self.0
            .read("lines of votes by review", |conn| boxed(async move { all(conn, sql, which, line).await }))
            .await
    }

    async fn at(&self, keys: &[(ReviewId, u64)]) -> Result<Vec<VoteLine>, StoreError> {
        self.0
            .read("some lines of votes", |conn| {
                boxed(async move {
                    let mut found = Vec::new();
                    for keys in keys.chunks(KEYS_PER_STATEMENT) {
                        let sql = format!("{SELECT} WHERE {}", is_among("l.", keys));
                        found.extend(all(conn, &*sql, bound(keys), line).await?);
                    }
                    Ok(found)
                })
            })
            .await
    }

    async fn has_idle(&self, from: Timestamp, until: Timestamp) -> Result<bool, StoreError> {
        let sql: &str = &format!(
            "SELECT 1 FROM vote_lines AS l JOIN reviews AS r ON r.id = l.review_id
             WHERE l.at_ms >= ? AND l.at_ms < ? AND (({IS_SUPERSEDED}) OR ({IS_LAST_WORD})) LIMIT 1"
        );
        let which = (from.as_millis(), until.as_millis());
        let found = self
            .0
            .look("idle lines of votes", |conn| {
                boxed(async move { first(conn, sql, which, Columns::next::<i64>).await })
            })
            .await?;
        Ok(found.is_some())
    }

    async fn remove_idle(&self, lines: &[VoteLine]) -> Result<u64, StoreError> {
        let mut removed = 0;
        for lines in lines.chunks(KEYS_PER_STATEMENT) {
            removed += self
                .0
                .write("remove lines of votes", |conn| {
                    boxed(async move {
                        let superseded = remove(conn, lines, IS_SUPERSEDED).await?;
                        Ok(superseded + remove(conn, lines, IS_LAST_WORD).await?)
                    })
                })
                .await?;
        }
        Ok(removed)
    }

    async fn sums(&self, after: ReviewId, max: u32) -> Result<Vec<ReviewVotes>, StoreError> {
        let sql = "SELECT id, votes, vote_lines, closed_line FROM reviews WHERE id > ? AND vote_lines > 0
                   ORDER BY id LIMIT ?";
        let which = (after.get(), max);
        let read = |row: &mut Columns| {
            Ok(ReviewVotes {
                review: ReviewId::new(row.next()?),
                votes: row.count()?,
                lines: row.count()?,
                closed_line: row.count()?,
            })
        };
        self.0.look("sums of votes", |conn| boxed(async move { all(conn, sql, which, read).await })).await
    }
}

/// Removes the lines among `lines` for which a condition holds, unless they differ from the table. At most
/// [`KEYS_PER_STATEMENT`].
async fn remove(conn: &mut Conn, lines: &[VoteLine], condition: &str) -> Result<u64, MysqlError> {
    let keys: Vec<_> = lines.iter().map(key).collect();
    let sql = format!(
        "{SELECT} JOIN reviews AS r ON r.id = l.review_id WHERE {} AND ({condition})",
        is_among("l.", &keys)
    );
    let given: HashMap<_, _> = lines.iter().map(|line| (key(line), line)).collect();
    let idle = all(conn, &*sql, bound(&keys), line).await?;
    let keys: Vec<_> = idle.iter().map(|line| (key(line), line)).collect();
    let keys: Vec<_> =
        keys.into_iter().filter(|(key, line)| given.get(key) == Some(line)).map(|(key, _)| key).collect();
    if keys.is_empty() {
        return Ok(0);
    }
    execute(conn, format!("DELETE FROM vote_lines WHERE {}", is_among("", &keys)), bound(&keys)).await
}

fn key(line: &VoteLine) -> (ReviewId, u64) {
    (line.review, line.number)
}

/// Returns the number of keys to bind: one of few sizes.
fn size_of(keys: &[(ReviewId, u64)]) -> usize {
    [1, 16, KEYS_PER_STATEMENT].into_iter().find(|size| *size >= keys.len()).unwrap_or(keys.len())
}

fn is_among(table: &str, keys: &[(ReviewId, u64)]) -> String {
    let places = vec!["(?, ?)"; size_of(keys)].join(", ");
    format!("({table}review_id, {table}number) IN ({places})")
}

fn bound(keys: &[(ReviewId, u64)]) -> Vec<Value> {
    let last = keys.last().copied().into_iter().cycle();
    let keys_and_padding = keys.iter().copied().chain(last).take(size_of(keys));
    keys_and_padding.flat_map(|(review, number)| [Value::from(review.get()), Value::from(number)]).collect()
}
