//! The [`PersonalData`] port on SQLite.

use async_trait::async_trait;
use mallbox_storage::backend::Numbered as _;
use mallbox_storage::{
    Comment, CommentId, DeleteOutcome, GivenLike, Note, NoteId, OrderStatus, PaidOrders, PersonalData, Post,
    Review, ReviewId, Role, StoreError, Timestamp, UserId, VoteLine, WaitingState,
};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::Database;
use super::columns::{get_id, get_known, get_time, get_time_if_any, id};
use super::errors::unreadable;
use super::order_lists::count_of_user;
use super::{comments, notes, picture_files, review_rows, second_factors, users, vote_rows};

pub(crate) struct EmbeddedPersonalData(Database);

impl EmbeddedPersonalData {
    pub(crate) fn new(database: Database) -> Self {
        Self(database)
    }
}

#[async_trait]
impl PersonalData for EmbeddedPersonalData {
    async fn notes(&self, user: UserId, after: NoteId, max: u32) -> Result<Vec<Note>, StoreError> {
        let rest = "WHERE user_id = ?1 AND id > ?2 AND status <> 3 ORDER BY id LIMIT ?3";
        let which = [id(user.get()), id(after.get()), i64::from(max)];
        self.0.read("notes of user", move |conn| notes::list(conn, rest, which)).await
    }

    async fn comments(&self, user: UserId, after: CommentId, max: u32) -> Result<Vec<Comment>, StoreError> {
        let rest = "WHERE user_id = ?1 AND id > ?2 AND status <> 3 ORDER BY id LIMIT ?3";
        let which = [id(user.get()), id(after.get()), i64::from(max)];
        self.0.read("comments of user", move |conn| comments::list(conn, rest, which)).await
    }

    async fn likes(&self, user: UserId, after: Option<Post>, max: u32) -> Result<Vec<GivenLike>, StoreError> {
        let (kind, target) = after.map_or((-1, 0), Post::in_row);
        let job = move |conn: &Connection| {
            conn.prepare_cached(
                "SELECT kind, target_id, liked_ms FROM likes
                 WHERE user_id = ?1 AND (kind, target_id) > (?2, ?3) ORDER BY kind, target_id LIMIT ?4",
            )?
            .query_map(params![id(user.get()), kind, id(target), max], |row| {
                let what = Post::from_row(row.get(0)?, get_id(row, 1)?);
                Ok(GivenLike { what: what.ok_or_else(|| unreadable(0, "a kind"))?, at: get_time(row, 2)? })
            })?
            .collect()
        };
        self.0.read("likes of user", job).await
    }

    async fn reviews(&self, user: UserId, after: ReviewId, max: u32) -> Result<Vec<Review>, StoreError> {
        let rest = "WHERE user_id = ?1 AND id > ?2 AND status <> 3 ORDER BY id LIMIT ?3";
        let which = [id(user.get()), id(after.get()), i64::from(max)];
        self.0.read("reviews of user", move |conn| review_rows::list(conn, rest, which)).await
    }

    async fn vote_lines(
        &self,
        user: UserId,
        after: Option<(ReviewId, u64)>,
        max: u32,
    ) -> Result<Vec<VoteLine>, StoreError> {
        let rest =
            "WHERE user_id = ?1 AND (review_id, number) > (?2, ?3) ORDER BY review_id, number LIMIT ?4";
        let (review, number) = after.map_or((0, 0), |(review, number)| (id(review.get()), id(number)));
        let which = [id(user.get()), review, number, i64::from(max)];
        self.0.read("votes of user", move |conn| vote_rows::list(conn, rest, which)).await
    }

    async fn delete(
        &self,
        user: UserId,
        paid: PaidOrders,
        now: Timestamp,
    ) -> Result<DeleteOutcome, StoreError> {
        self.0.write("delete user", move |conn| delete(conn, user, paid, now)).await
    }

    async fn deleted(&self, since: Timestamp, after: UserId, max: u32) -> Result<Vec<UserId>, StoreError> {
        let job = move |conn: &Connection| {
            conn.prepare_cached(
                "SELECT id FROM users WHERE deleted_ms >= ?1 AND id > ?2 ORDER BY id LIMIT ?3",
            )?
            .query_map(params![since.as_millis(), id(after.get()), max], |row| {
                Ok(UserId::new(get_id(row, 0)?))
            })?
            .collect()
        };
        self.0.read("deleted users", job).await
    }
}

fn delete(
    conn: &Connection,
    user: UserId,
    paid: PaidOrders,
    now: Timestamp,
) -> rusqlite::Result<DeleteOutcome> {
    let key = id(user.get());
    let found: Option<(Role, bool, Option<Timestamp>)> = conn
        .prepare_cached("SELECT role, blocked_ms IS NULL, deleted_ms FROM users WHERE id = ?1")?
        .query_row([key], |row| Ok((get_known(row, 0)?, row.get(1)?, get_time_if_any(row, 2)?)))
        .optional()?;
    let acts = match found {
        None => return Ok(DeleteOutcome::NoSuchUser),
        Some((_, _, Some(_))) => return Ok(DeleteOutcome::Deleted),
        Some((role, is_unblocked, None)) => role == Role::Operator && is_unblocked,
    };
    if acts && !users::has_other_operator(conn, user)? {
        return Ok(DeleteOutcome::LastOperator);
    }
    if count_of_user(conn, user, OrderStatus::Unpaid)? > 0 {
        return Ok(DeleteOutcome::HasUnpaid);
    }
    match (paid, count_of_user(conn, user, OrderStatus::Paid)?) {
        (PaidOrders::Forfeit, _) | (PaidOrders::Keep, 0) => {}
        (PaidOrders::Keep, count) => return Ok(DeleteOutcome::HasPaid(count)),
    }
    erase(conn, key, now)?;
    Ok(DeleteOutcome::Deleted)
}

fn erase(conn: &Connection, user: i64, now: Timestamp) -> rusqlite::Result<()> {
    picture_files::give_up_icon(conn, user, "", now)?;
    conn.prepare_cached(
        "UPDATE users SET phone = 'deleted ' || id, nick_name = '', icon = '', password = NULL, role = 0,
           blocked_ms = NULL, block_reason = NULL, deleted_ms = ?2, updated_ms = ?2 WHERE id = ?1",
    )?
    .execute([user, now.as_millis()])?;
    conn.prepare_cached(
        "UPDATE user_info SET city = '', introduce = '', gender = 0, birthday = NULL, updated_ms = ?2
         WHERE user_id = ?1",
    )?
    .execute([user, now.as_millis()])?;
    for sql in [
        "DELETE FROM follows WHERE user_id = ?1",
        "DELETE FROM follows WHERE followee_id = ?1",
        "DELETE FROM authors_with_many_fans WHERE user_id = ?1",
    ] {
        conn.prepare_cached(sql)?.execute([user])?;
    }
    // Places in waiting lists are given up.
    conn.prepare_cached(
        "UPDATE waiting_entries SET state = ?2, changed_ms = ?3 WHERE user_id = ?1 AND state = 0",
    )?
    .execute([user, WaitingState::Left.number(), now.as_millis()])?;
    conn.prepare_cached("DELETE FROM attempts WHERE user_id = ?1")?.execute([user])?;
    second_factors::erase(conn, user)
}
