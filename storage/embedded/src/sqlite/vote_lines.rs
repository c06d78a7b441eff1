//! The [`VoteLines`] port on SQLite.

use async_trait::async_trait;
use mallbox_storage::{ReviewId, ReviewVotes, StoreError, Timestamp, VoteCursor, VoteLine, VoteLines};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::Database;
use super::columns::{after, get_count, get_id, id};
use super::vote_rows::list;

pub(crate) struct EmbeddedVoteLines(Database);

impl EmbeddedVoteLines {
    pub(crate) fn new(database: Database) -> Self {
        Self(database)
    }
}

/// Whether line `l` of review `r` neither is the newest nor a vote that may count: a later line of the voter
/// or a later closing line decides. Not sufficient for a vote taken back, see [`IS_LAST_WORD`].
const IS_SUPERSEDED: &str = "l.number < r.vote_lines AND (l.number <= r.closed_line OR l.cause = 2
    OR EXISTS (SELECT 1 FROM vote_lines AS n
               WHERE n.user_id = l.user_id AND n.review_id = l.review_id AND n.number > l.number))";
/// Whether line `l` of review `r` is a vote taken back, and the only line of the voter left.
const IS_LAST_WORD: &str = "l.number < r.vote_lines AND l.cause = 0
    AND NOT EXISTS (SELECT 1 FROM vote_lines AS n
                    WHERE n.user_id = l.user_id AND n.review_id = l.review_id AND n.number <> l.number)";

#[async_trait]
impl VoteLines for EmbeddedVoteLines {
    async fn first_since(&self, since: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        let job = move |conn: &Connection| {
            conn.prepare_cached("SELECT MIN(at_ms) FROM vote_lines WHERE at_ms >= ?1")?
                .query_row([since.as_millis()], |row| row.get::<_, Option<i64>>(0))
        };
        Ok(self.0.read("oldest line of votes", job).await?.map(Timestamp::from_millis))
    }

    async fn between(
        &self,
        from: Timestamp,
        until: Timestamp,
        behind: Option<VoteCursor>,
        max: u32,
    ) -> Result<Vec<VoteLine>, StoreError> {
        let rest = "WHERE at_ms >= ?1 AND at_ms < ?2 AND (at_ms, review_id, number) > (?3, ?4, ?5)
                    ORDER BY at_ms, review_id, number LIMIT ?6";
        let [at, review, number] = behind.map_or([i64::MIN; 3], |behind| {
            [behind.at.as_millis(), id(behind.review.get()), after(behind.number)]
        });
        let which = [from.as_millis().max(at), until.as_millis(), at, review, number, i64::from(max)];
        self.0.read("lines of votes in time", move |conn| list(conn, rest, which)).await
    }

    async fn of_reviews(
        &self,
        (review, number): (ReviewId, u64),
        last: ReviewId,
        max: u32,
    ) -> Result<Vec<VoteLine>, StoreError> {
        let rest = "WHERE (review_id, number) > (?1, ?2) AND review_id <= ?3
                    ORDER BY review_id, number LIMIT ?4";
        let which = [after(review.get()), after(number), after(last.get()), i64::from(max)];
        self.0.read("lines of votes by review", move |conn| list(conn, rest, which)).await
    }

    async fn at(&self, keys: &[(ReviewId, u64)]) -> Result<Vec<VoteLine>, StoreError> {
        let keys: Vec<_> = keys.iter().map(|(review, number)| [id(review.get()), id(*number)]).collect();
        let job = move |conn: &Connection| {
            let mut found = Vec::new();
            for key in keys {
                found.extend(list(conn, "WHERE review_id = ?1 AND number = ?2", key)?);
            }
            Ok(found)
        };
        self.0.read("some lines of votes", job).await
    }

    async fn has_idle(&self, from: Timestamp, until: Timestamp) -> Result<bool, StoreError> {
        let sql = format!(
            "SELECT EXISTS (SELECT 1 FROM vote_lines AS l JOIN reviews AS r ON r.id = l.review_id
             WHERE l.at_ms >= ?1 AND l.at_ms < ?2 AND (({IS_SUPERSEDED}) OR ({IS_LAST_WORD})))"
        );
        let job = move |conn: &Connection| {
            conn.prepare_cached(&sql)?.query_row([from.as_millis(), until.as_millis()], |row| row.get(0))
        };
        self.0.read("idle lines of votes", job).await
    }

    async fn remove_idle(&self, lines: &[VoteLine]) -> Result<u64, StoreError> {
        let lines = lines.to_vec();
        let job = move |conn: &Connection| {
            let superseded = remove(conn, &lines, IS_SUPERSEDED)?;
            Ok(superseded + remove(conn, &lines, IS_LAST_WORD)?)
        };
        self.0.write_bulk("remove lines of votes", job).await
    }

    async fn sums(&self, behind: ReviewId, max: u32) -> Result<Vec<ReviewVotes>, StoreError> {
        let job = move |conn: &Connection| {
            conn.prepare_cached(
                "SELECT id, votes, vote_lines, closed_line FROM reviews WHERE id > ?1 AND vote_lines > 0
                 ORDER BY id LIMIT ?2",
            )?
            .query_map(params![after(behind.get()), max], |row| {
                Ok(ReviewVotes {
                    review: ReviewId::new(get_id(row, 0)?),
                    votes: get_count(row, 1)?,
                    lines: get_count(row, 2)?,
                    closed_line: get_count(row, 3)?,
                })
            })?
            .collect()
        };
        self.0.read("sums of votes", job).await
    }
}

/// Removes the lines among `lines` for which a condition holds, unless they differ from the table.
fn remove(conn: &Connection, lines: &[VoteLine], condition: &str) -> rusqlite::Result<u64> {
    let mut select = conn.prepare_cached(&format!(
        "SELECT 1 FROM vote_lines AS l JOIN reviews AS r ON r.id = l.review_id
         WHERE l.review_id = ?1 AND l.number = ?2 AND ({condition})"
    ))?;
    let mut delete = conn.prepare_cached("DELETE FROM vote_lines WHERE review_id = ?1 AND number = ?2")?;
    let mut removed = 0;
    for line in lines {
        let key = [id(line.review.get()), id(line.number)];
        if select.query_row(key, |_| Ok(())).optional()?.is_none() {
            continue;
        }
        if list(conn, "WHERE review_id = ?1 AND number = ?2", key)?.first() == Some(line) {
            removed += delete.execute(key)? as u64;
        }
    }
    Ok(removed)
}
