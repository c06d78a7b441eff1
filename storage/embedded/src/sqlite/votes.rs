//! The [`Votes`] port on SQLite.

use std::collections::HashSet;

use async_trait::async_trait;
use mallbox_storage::backend::VotePlan;
use mallbox_storage::{
    ReviewId, StoreError, Timestamp, UserId, VOTE_MARK_TTL, VoteCause, VoteCursor, VoteLine, VoteOutcome,
    Votes,
};
use rusqlite::{Connection, params};

use super::Database;
use super::columns::{after, get_id, id};
use super::review_rows::locked;
use super::vote_rows::{append, last_of, list};

pub(crate) struct EmbeddedVotes(Database);

impl EmbeddedVotes {
    pub(crate) fn new(database: Database) -> Self {
        Self(database)
    }
}

#[async_trait]
impl Votes for EmbeddedVotes {
    async fn vote(
        &self,
        review: ReviewId,
        user: UserId,
        up: bool,
        now: Timestamp,
    ) -> Result<VoteOutcome, StoreError> {
        self.0.write("vote", move |conn| vote(conn, review, user, up, now)).await
    }

    async fn marked(
        &self,
        user: UserId,
        among: &[ReviewId],
        now: Timestamp,
    ) -> Result<Vec<ReviewId>, StoreError> {
        let ids: Vec<i64> = among.iter().map(|review| id(review.get())).collect();
        let ids = format!("{ids:?}");
        let since = (now - VOTE_MARK_TTL).as_millis();
        let job = move |conn: &Connection| {
            conn.prepare_cached(
                "SELECT review_id FROM vote_marks
                 WHERE user_id = ?1 AND review_id IN (SELECT value FROM json_each(?2)) AND at_ms > ?3",
            )?
            .query_map(params![id(user.get()), ids, since], |row| Ok(ReviewId::new(get_id(row, 0)?)))?
            .collect::<rusqlite::Result<HashSet<ReviewId>>>()
        };
        let marked = self.0.read("marks of votes", job).await?;
        Ok(among.iter().copied().filter(|review| marked.contains(review)).collect())
    }

    async fn lines(
        &self,
        review: ReviewId,
        below: Option<u64>,
        max: u32,
    ) -> Result<Vec<VoteLine>, StoreError> {
        let rest = "WHERE review_id = ?1 AND number < ?2 ORDER BY number DESC LIMIT ?3";
        let which = [id(review.get()), below.map_or(i64::MAX, after), max.into()];
        self.0.read("lines of votes", move |conn| list(conn, rest, which)).await
    }

    async fn newest_lines(&self, behind: Option<VoteCursor>, max: u32) -> Result<Vec<VoteLine>, StoreError> {
        let rest = "WHERE (at_ms, review_id, number) < (?1, ?2, ?3)
                    ORDER BY at_ms DESC, review_id DESC, number DESC LIMIT ?4";
        let [at, review, number] = behind.map_or([i64::MAX; 3], |behind| {
            [behind.at.as_millis(), id(behind.review.get()), after(behind.number)]
        });
        let which = [at, review, number, max.into()];
        self.0.read("newest lines of votes", move |conn| list(conn, rest, which)).await
    }

    async fn prune_marks(&self, now: Timestamp, max: u32) -> Result<u64, StoreError> {
        let until = (now - VOTE_MARK_TTL).as_millis();
        let job = move |conn: &Connection| {
            conn.prepare_cached(
                "DELETE FROM vote_marks WHERE (user_id, review_id) IN
                   (SELECT user_id, review_id FROM vote_marks WHERE at_ms <= ?1 ORDER BY at_ms LIMIT ?2)",
            )?
            .execute(params![until, max])
            .map(|pruned| pruned as u64)
        };
        self.0.write_bulk("prune marks of votes", job).await
    }
}

fn vote(
    conn: &Connection,
    review: ReviewId,
    user: UserId,
    up: bool,
    now: Timestamp,
) -> rusqlite::Result<VoteOutcome> {
    let Some(row) = locked(conn, review)?.map(|row| row.voted) else { return Ok(VoteOutcome::NoSuchReview) };
    let (mut sum, mut number, mut changed) = (row.votes, row.lines, false);
    match row.plan(user, last_of(conn, review, user)?, up) {
        VotePlan::Refuse(outcome) => return Ok(outcome),
        VotePlan::Keep => {}
        VotePlan::Write { number: next, change, sum: after } => {
            (sum, number, changed) = (after, next, true);
            let cause = if up { VoteCause::Up } else { VoteCause::Down };
            append(conn, &VoteLine { review, number, user: Some(user), cause, change, sum, at: now })?;
        }
    }
    mark(conn, review, user, up, now)?;
    Ok(VoteOutcome::Counted { sum, number, changed })
}

fn mark(conn: &Connection, review: ReviewId, user: UserId, up: bool, now: Timestamp) -> rusqlite::Result<()> {
    let key = [id(user.get()), id(review.get())];
    if up {
        conn.prepare_cached(
            "INSERT INTO vote_marks (user_id, review_id, at_ms) VALUES (?1, ?2, ?3)
             ON CONFLICT (user_id, review_id) DO UPDATE SET at_ms = excluded.at_ms",
        )?
        .execute([key[0], key[1], now.as_millis()])
        .map(drop)
    } else {
        conn.prepare_cached("DELETE FROM vote_marks WHERE user_id = ?1 AND review_id = ?2")?
            .execute(key)
            .map(drop)
    }
}
