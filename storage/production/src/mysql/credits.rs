//! [`Credits`] in MySQL, and the lines that other ports write in their own transactions.
//!
//! The user's card holds the sum, and is the lock of the user's ledger. The card is locked last: after order,
//! payment and sale of a transition, and after the sign-in.

use async_trait::async_trait;
use mallbox_storage::backend::CreditChange;
use mallbox_storage::{
    CreditCause, CreditLine, Credits, Order, SetLevelOutcome, StoreError, Timestamp, UserId,
};
use mysql_async::Conn;

use super::columns::{Columns, all, execute, first};
use super::database::Database;
use super::errors::MysqlError;
use super::job::boxed;

pub(super) struct MysqlCredits(pub(super) Database);

#[async_trait]
impl Credits for MysqlCredits {
    async fn lines(&self, user: UserId, below: Option<u64>, max: u32) -> Result<Vec<CreditLine>, StoreError> {
        let sql = "SELECT number, kind, reference, amount, sum_after, at_ms FROM credit_lines
                   WHERE user_id = ? AND number < ? ORDER BY number DESC LIMIT ?";
        let which = (user.get(), below.unwrap_or(u64::MAX), max);
        self.0.read("credit lines", |conn| boxed(async move { all(conn, sql, which, line).await })).await
    }

    async fn bring_along(&self, user: UserId, amount: u32, now: Timestamp) -> Result<bool, StoreError> {
        let (cause, amount) = (CreditCause::Imported, i64::from(amount));
        self.0
            .write("bring credits along", |conn| {
                boxed(async move { add(conn, user, cause, amount, now).await })
            })
            .await
    }

    async fn set_level(
        &self,
        user: UserId,
        level: Option<u8>,
        now: Timestamp,
    ) -> Result<SetLevelOutcome, StoreError> {
        self.0.write("set level", |conn| boxed(async move { set_level(conn, user, level, now).await })).await
    }
}

/// Changes the credits of an order's buyer, in the caller's transaction.
pub(super) async fn change(
    conn: &mut Conn,
    order: &Order,
    change: CreditChange,
    now: Timestamp,
) -> Result<(), MysqlError> {
    let (user, earned) = (order.user, CreditCause::Order(order.id));
    match change {
        CreditChange::None => Ok(()),
        CreditChange::Earn(amount) => add(conn, user, earned, amount, now).await.map(drop),
        CreditChange::TakeBack => match amount_of(conn, user, earned).await? {
            Some(amount) => add(conn, user, CreditCause::Refund(order.id), -amount, now).await.map(drop),
            None => Ok(()),
        },
    }
}

/// Adds a line and changes the sum, in the caller's transaction. Returns `false`, without a change, if the
/// cause has a line already or the user does not exist. Locks the user's card.
pub(super) async fn add(
    conn: &mut Conn,
    user: UserId,
    cause: CreditCause,
    amount: i64,
    now: Timestamp,
) -> Result<bool, MysqlError> {
    let Some(before) = lock_sum(conn, user, now).await? else { return Ok(false) };
    // Read under the lock: of two calls with one cause, the second sees the line of the first.
    if amount_of(conn, user, cause).await?.is_some() {
        return Ok(false);
    }
    let sql = "SELECT MAX(number) FROM credit_lines WHERE user_id = ?";
    let last = first(conn, sql, (user.get(),), Columns::next::<Option<u64>>).await?.flatten();
    // A sum changed behind the mall must not keep an order from its refund. The ledger check reports it.
    let sum = before.saturating_add(amount).max(0);
    let (kind, reference) = cause.in_row();
    let sql = "INSERT INTO credit_lines (user_id, number, kind, reference, amount, sum_after, at_ms)
               VALUES (?, ?, ?, ?, ?, ?, ?)";
    let number = last.unwrap_or_default() + 1;
    execute(conn, sql, (user.get(), number, kind, reference, amount, sum, now.as_millis())).await?;
    execute(conn, "UPDATE user_info SET credits = ? WHERE user_id = ?", (sum, user.get())).await?;
    Ok(true)
}

/// Writes the lines for imported cards, after an import into an empty mall.
pub(super) async fn add_imported(conn: &mut Conn, now: Timestamp) -> Result<(), MysqlError> {
    let sql = "INSERT INTO credit_lines (user_id, number, kind, reference, amount, sum_after, at_ms)
               SELECT user_id, 1, 0, 0, credits, credits, ? FROM user_info WHERE credits > 0";
    execute(conn, sql, (now.as_millis(),)).await.map(drop)
}

async fn set_level(
    conn: &mut Conn,
    user: UserId,
    level: Option<u8>,
    now: Timestamp,
) -> Result<SetLevelOutcome, MysqlError> {
    // Locks the user first, as a deletion and a change of the profile do.
    let sql = "SELECT deleted_ms FROM users WHERE id = ? FOR UPDATE";
    match first(conn, sql, (user.get(),), Columns::next::<Option<i64>>).await? {
        Some(None) => {}
        Some(Some(_)) | None => return Ok(SetLevelOutcome::NoSuchUser),
    }
    if lock_sum(conn, user, now).await?.is_none() {
        return Ok(SetLevelOutcome::NoSuchUser);
    }
    let sql = "SELECT set_level FROM user_info WHERE user_id = ?";
    let before = first(conn, sql, (user.get(),), Columns::next::<Option<u8>>).await?.flatten();
    let sql = "UPDATE user_info SET set_level = ?, updated_ms = ? WHERE user_id = ?";
    execute(conn, sql, (level, now.as_millis(), user.get())).await?;
    Ok(SetLevelOutcome::Done { before })
}

/// Returns the amount of a cause's line.
async fn amount_of(conn: &mut Conn, user: UserId, cause: CreditCause) -> Result<Option<i64>, MysqlError> {
    let sql = "SELECT amount FROM credit_lines WHERE user_id = ? AND kind = ? AND reference = ?";
    let (kind, reference) = cause.in_row();
    first(conn, sql, (user.get(), kind, reference), Columns::next::<i64>).await
}

/// Locks the card of a user, inserted empty if missing, and returns the sum of credits; `None` for an unknown
/// user.
async fn lock_sum(conn: &mut Conn, user: UserId, now: Timestamp) -> Result<Option<i64>, MysqlError> {
    let lock = "SELECT credits FROM user_info WHERE user_id = ? FOR UPDATE";
    let sum = first(conn, lock, (user.get(),), Columns::next::<i64>).await?;
    if sum.is_some() {
        return Ok(sum);
    }
    // IGNORE: another transaction may have inserted the card since.
    let insert = "INSERT IGNORE INTO user_info
                    (user_id, city, introduce, gender, birthday, credits, level, updated_ms)
                  SELECT id, '', '', 0, NULL, 0, 0, ? FROM users WHERE id = ?";
    execute(conn, insert, (now.as_millis(), user.get())).await?;
    first(conn, lock, (user.get(),), Columns::next::<i64>).await
}

fn line(row: &mut Columns) -> Result<CreditLine, MysqlError> {
    let (number, kind, reference) = (row.count()?, row.next()?, row.next()?);
    let cause = CreditCause::from_row(kind, reference).ok_or_else(|| row.unreadable_last("no cause"))?;
    Ok(CreditLine { number, cause, amount: row.next()?, sum: row.count()?, at: row.time()? })
}
