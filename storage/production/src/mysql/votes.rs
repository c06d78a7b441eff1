//! [`Votes`] in MySQL.
//!
//! The review's row is the lock of its ledger.

use std::collections::HashSet;

use async_trait::async_trait;
use mallbox_storage::backend::VotePlan;
use mallbox_storage::{
    ReviewId, StoreError, Timestamp, UserId, VOTE_MARK_TTL, VoteCause, VoteCursor, VoteLine, VoteOutcome,
    Votes,
};
use mysql_async::Conn;

use super::columns::{all, execute};
use super::database::Database;
use super::errors::MysqlError;
use super::job::boxed;
use super::vote_rows::{SELECT, append, last_of, line};
use super::{multi_row, review_rows};

pub(super) struct MysqlVotes(pub(super) Database);

#[async_trait]
impl Votes for MysqlVotes {
    async fn vote(
        &self,
        review: ReviewId,
        user: UserId,
        up: bool,
        now: Timestamp,
    ) -> Result<VoteOutcome, StoreError> {
        self.0.write("vote", |conn| boxed(async move { vote(conn, review, user, up, now).await })).await
    }

    async fn marked(
        &self,
        user: UserId,
        among: &[ReviewId],
        now: Timestamp,
    ) -> Result<Vec<ReviewId>, StoreError> {
        let ids: &[u64] = &among.iter().copied().map(ReviewId::get).collect::<Vec<_>>();
        let since = (now - VOTE_MARK_TTL).as_millis();
        let sql: &str = &format!(
            "SELECT review_id FROM vote_marks WHERE user_id = ? AND review_id IN ({{keys}}) AND at_ms > {since}"
        );
        let marked: HashSet<u64> = self
            .0
            .read("marks of votes", |conn| {
                boxed(async move {
                    multi_row::select_by_keys(conn, sql, &[user.get()], ids, |row| row.next()).await
                })
            })
            .await?
            .into_iter()
            .collect();
        Ok(among.iter().copied().filter(|review| marked.contains(&review.get())).collect())
    }

    async fn lines(
        &self,
        review: ReviewId,
        below: Option<u64>,
        max: u32,
    ) -> Result<Vec<VoteLine>, StoreError> {
        let sql: &str = &format!("{SELECT} WHERE review_id = ? AND number < ? ORDER BY number DESC LIMIT ?");
        let which = (review.get(), below.unwrap_or(u64::MAX), max);
        self.0.read("lines of votes", |conn| boxed(async move { all(conn, sql, which, line).await })).await
    }

    async fn newest_lines(&self, behind: Option<VoteCursor>, max: u32) -> Result<Vec<VoteLine>, StoreError> {
        // MySQL would not use the index for a comparison of rows.
        let sql: &str = &format!(
            "{SELECT} WHERE at_ms <= ? AND (at_ms < ? OR review_id < ? OR review_id = ? AND number < ?)
             ORDER BY at_ms DESC, review_id DESC, number DESC LIMIT ?"
        );
        let (at, review, number) = behind.map_or((i64::MAX, u64::MAX, u64::MAX), |behind| {
            (behind.at.as_millis(), behind.review.get(), behind.number)
        });
        let which = (at, at, review, review, number, max);
        self.0
            .read("newest lines of votes", |conn| boxed(async move { all(conn, sql, which, line).await }))
            .await
    }

    async fn prune_marks(&self, now: Timestamp, max: u32) -> Result<u64, StoreError> {
        let sql = "DELETE FROM vote_marks WHERE at_ms <= ? ORDER BY at_ms LIMIT ?";
        let which = ((now - VOTE_MARK_TTL).as_millis(), max);
        self.0
            .write_at_once("prune marks of votes", |conn| {
                boxed(async move { execute(conn, sql, which).await })
            })
            .await
    }
}

async fn vote(
    conn: &mut Conn,
    review: ReviewId,
    user: UserId,
    up: bool,
    now: Timestamp,
) -> Result<VoteOutcome, MysqlError> {
    let Some(row) = review_rows::lock(conn, review).await?.map(|row| row.voted) else {
        return Ok(VoteOutcome::NoSuchReview);
    };
    let (mut sum, mut number, mut changed) = (row.votes, row.lines, false);
    match row.plan(user, last_of(conn, review, user).await?, up) {
        VotePlan::Refuse(outcome) => return Ok(outcome),
        VotePlan::Keep => {}
        VotePlan::Write { number: next, change, sum: after } => {
            (sum, number, changed) = (after, next, true);
            let cause = if up { VoteCause::Up } else { VoteCause::Down };
            append(conn, &VoteLine { review, number, user: Some(user), cause, change, sum, at: now }).await?;
        }
    }
    mark(conn, review, user, up, now).await?;
    Ok(VoteOutcome::Counted { sum, number, changed })
}

async fn mark(
    conn: &mut Conn,
    review: ReviewId,
    user: UserId,
    up: bool,
    now: Timestamp,
) -> Result<(), MysqlError> {
    let key = (user.get(), review.get());
    if up {
        let sql = "INSERT INTO vote_marks (user_id, review_id, at_ms) VALUES (?, ?, ?)
                   ON DUPLICATE KEY UPDATE at_ms = VALUES(at_ms)";
        execute(conn, sql, (key.0, key.1, now.as_millis())).await.map(drop)
    } else {
        execute(conn, "DELETE FROM vote_marks WHERE user_id = ? AND review_id = ?", key).await.map(drop)
    }
}
