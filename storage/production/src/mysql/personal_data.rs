//! [`PersonalData`] in MySQL.

use async_trait::async_trait;
use mallbox_storage::backend::Numbered as _;
use mallbox_storage::{
    Comment, CommentId, DeleteOutcome, GivenLike, Note, NoteId, OrderStatus, PaidOrders, PersonalData, Post,
    Review, ReviewId, StoreError, Timestamp, UserId, VoteLine, WaitingState,
};
use mysql_async::Conn;

use super::columns::{Columns, all, execute, first};
use super::database::Database;
use super::errors::MysqlError;
use super::job::boxed;
use super::{comments, notes, picture_files, review_rows, second_factors, users, vote_rows};

pub(super) struct MysqlPersonalData(pub(super) Database);

#[async_trait]
impl PersonalData for MysqlPersonalData {
    async fn notes(&self, user: UserId, after: NoteId, max: u32) -> Result<Vec<Note>, StoreError> {
        let sql: &str =
            &format!("{} WHERE user_id = ? AND id > ? AND status <> 3 ORDER BY id LIMIT ?", notes::SELECT);
        let which = (user.get(), after.get(), max);
        self.0
            .read("notes of user", |conn| boxed(async move { all(conn, sql, which, notes::note).await }))
            .await
    }

    async fn comments(&self, user: UserId, after: CommentId, max: u32) -> Result<Vec<Comment>, StoreError> {
        let sql: &str = &format!(
            "SELECT {} FROM note_comments WHERE user_id = ? AND id > ? AND status <> 3 ORDER BY id LIMIT ?",
            comments::COLUMNS
        );
        let which = (user.get(), after.get(), max);
        self.0
            .read("comments of user", |conn| {
                boxed(async move { all(conn, sql, which, comments::comment).await })
            })
            .await
    }

    async fn likes(&self, user: UserId, after: Option<Post>, max: u32) -> Result<Vec<GivenLike>, StoreError> {
        // MySQL would not use the index for a comparison of pairs.
        let sql = "SELECT kind, target_id, liked_ms FROM likes
                   WHERE user_id = ? AND (kind > ? OR kind = ? AND target_id > ?)
                   ORDER BY kind, target_id LIMIT ?";
        let (kind, target) = after.map_or((-1, 0), Post::in_row);
        self.0
            .read("likes of user", |conn| {
                boxed(async move { all(conn, sql, (user.get(), kind, kind, target, max), like).await })
            })
            .await
    }

    async fn reviews(&self, user: UserId, after: ReviewId, max: u32) -> Result<Vec<Review>, StoreError> {
        let sql: &str = &format!(
            "{} WHERE user_id = ? AND id > ? AND status <> 3 ORDER BY id LIMIT ?",
            review_rows::SELECT
        );
        let which = (user.get(), after.get(), max);
        self.0
            .read("reviews of user", |conn| {
                boxed(async move { all(conn, sql, which, review_rows::review).await })
            })
            .await
    }

    async fn vote_lines(
        &self,
        user: UserId,
        after: Option<(ReviewId, u64)>,
        max: u32,
    ) -> Result<Vec<VoteLine>, StoreError> {
        let sql: &str = &format!(
            "{} WHERE user_id = ? AND (review_id > ? OR review_id = ? AND number > ?)
             ORDER BY review_id, number LIMIT ?",
            vote_rows::SELECT
        );
        let (review, number) = after.map_or((0, 0), |(review, number)| (review.get(), number));
        let which = (user.get(), review, review, number, max);
        self.0
            .read("votes of user", |conn| boxed(async move { all(conn, sql, which, vote_rows::line).await }))
            .await
    }

    async fn delete(
        &self,
        user: UserId,
        paid: PaidOrders,
        now: Timestamp,
    ) -> Result<DeleteOutcome, StoreError> {
        self.0.write("delete user", |conn| boxed(async move { delete(conn, user, paid, now).await })).await
    }

    async fn deleted(&self, since: Timestamp, after: UserId, max: u32) -> Result<Vec<UserId>, StoreError> {
        let sql = "SELECT id FROM users WHERE deleted_ms >= ? AND id > ? ORDER BY id LIMIT ?";
        let which = (since.as_millis(), after.get(), max);
        self.0
            .read("deleted users", |conn| {
                boxed(async move { all(conn, sql, which, |row| Ok(UserId::new(row.next()?))).await })
            })
            .await
    }
}

fn like(row: &mut Columns) -> Result<GivenLike, MysqlError> {
    let (kind, target) = (row.next()?, row.next()?);
    let what = Post::from_row(kind, target).ok_or_else(|| row.unreadable_last("no kind"))?;
    Ok(GivenLike { what, at: row.time()? })
}

async fn delete(
    conn: &mut Conn,
    user: UserId,
    paid: PaidOrders,
    now: Timestamp,
) -> Result<DeleteOutcome, MysqlError> {
    // Locks all operators first, as every change of rights does; then the user, whose purchases wait.
    let operators = users::lock_operators(conn).await?;
    let sql = "SELECT deleted_ms FROM users WHERE id = ? FOR UPDATE";
    match first(conn, sql, (user.get(),), Columns::next::<Option<i64>>).await? {
        None => return Ok(DeleteOutcome::NoSuchUser),
        Some(Some(_)) => return Ok(DeleteOutcome::Deleted),
        Some(None) => {}
    }
    let acts = |one: &&mallbox_storage::User| one.acts();
    if operators.iter().filter(acts).any(|one| one.id == user) && operators.iter().filter(acts).count() == 1 {
        return Ok(DeleteOutcome::LastOperator);
    }
    if orders(conn, user, OrderStatus::Unpaid).await? > 0 {
        return Ok(DeleteOutcome::HasUnpaid);
    }
    match (paid, orders(conn, user, OrderStatus::Paid).await?) {
        (PaidOrders::Forfeit, _) | (PaidOrders::Keep, 0) => {}
        (PaidOrders::Keep, count) => return Ok(DeleteOutcome::HasPaid(count)),
    }
    erase(conn, user, now).await?;
    Ok(DeleteOutcome::Deleted)
}

async fn orders(conn: &mut Conn, user: UserId, status: OrderStatus) -> Result<u64, MysqlError> {
    let sql = "SELECT COUNT(*) FROM orders WHERE user_id = ? AND status = ?";
    Ok(first(conn, sql, (user.get(), status as u8), Columns::count).await?.unwrap_or_default())
}

async fn erase(conn: &mut Conn, user: UserId, now: Timestamp) -> Result<(), MysqlError> {
    picture_files::give_up_icon(conn, user.get(), "", now).await?;
    let (user, now) = (user.get(), now.as_millis());
    let sql = "UPDATE users SET phone = CONCAT('deleted ', id), nick_name = '', icon = '', password = NULL,
                 role = 0, blocked_ms = NULL, block_reason = NULL, deleted_ms = ?, updated_ms = ? WHERE id = ?";
    execute(conn, sql, (now, now, user)).await?;
    let sql = "UPDATE user_info SET city = '', introduce = '', gender = 0, birthday = NULL, updated_ms = ?
               WHERE user_id = ?";
    execute(conn, sql, (now, user)).await?;
    for sql in [
        "DELETE FROM follows WHERE user_id = ?",
        "DELETE FROM follows WHERE followee_id = ?",
        "DELETE FROM authors_with_many_fans WHERE user_id = ?",
    ] {
        execute(conn, sql, (user,)).await?;
    }
    // Places in waiting lists are given up.
    let sql = "UPDATE waiting_entries SET state = ?, changed_ms = ? WHERE user_id = ? AND state = 0";
    execute(conn, sql, (WaitingState::Left.number(), now, user)).await?;
    execute(conn, "DELETE FROM attempts WHERE user_id = ?", (user,)).await?;
    second_factors::erase(conn, user).await
}
