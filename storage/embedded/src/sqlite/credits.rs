//! The [`Credits`] port on SQLite, and the lines that other ports write in their own transactions.

use async_trait::async_trait;
use mallbox_storage::backend::CreditChange;
use mallbox_storage::{
    CreditCause, CreditLine, Credits, Order, SetLevelOutcome, StoreError, Timestamp, UserId,
};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::Database;
use super::columns::{after, get_count, get_id, get_time, id};
use super::errors::unreadable;

pub(crate) struct EmbeddedCredits(Database);

impl EmbeddedCredits {
    pub(crate) fn new(database: Database) -> Self {
        Self(database)
    }
}

#[async_trait]
impl Credits for EmbeddedCredits {
    async fn lines(&self, user: UserId, below: Option<u64>, max: u32) -> Result<Vec<CreditLine>, StoreError> {
        let job = move |conn: &Connection| {
            conn.prepare_cached(
                "SELECT number, kind, reference, amount, sum_after, at_ms FROM credit_lines
                 WHERE user_id = ?1 AND number < ?2 ORDER BY number DESC LIMIT ?3",
            )?
            .query_map(params![id(user.get()), below.map_or(i64::MAX, after), max], line)?
            .collect()
        };
        self.0.read("credit lines", job).await
    }

    async fn bring_along(&self, user: UserId, amount: u32, now: Timestamp) -> Result<bool, StoreError> {
        let amount = i64::from(amount);
        let job = move |conn: &Connection| add(conn, user, CreditCause::Imported, amount, now);
        self.0.write("bring credits along", job).await
    }

    async fn set_level(
        &self,
        user: UserId,
        level: Option<u8>,
        now: Timestamp,
    ) -> Result<SetLevelOutcome, StoreError> {
        self.0.write("set level", move |conn| set_level(conn, user, level, now)).await
    }
}

/// Changes the credits of an order's buyer, in the caller's transaction.
pub(super) fn change(
    conn: &Connection,
    order: &Order,
    change: CreditChange,
    now: Timestamp,
) -> rusqlite::Result<()> {
    let earned = CreditCause::Order(order.id);
    match change {
        CreditChange::None => Ok(()),
        CreditChange::Earn(amount) => add(conn, order.user, earned, amount, now).map(drop),
        CreditChange::TakeBack => match amount_of(conn, order.user, earned)? {
            Some(amount) => add(conn, order.user, CreditCause::Refund(order.id), -amount, now).map(drop),
            None => Ok(()),
        },
    }
}

/// Adds a line and changes the sum, in the caller's transaction. Returns `false`, without a change, if the
/// cause has a line already or the user does not exist.
pub(super) fn add(
    conn: &Connection,
    user: UserId,
    cause: CreditCause,
    amount: i64,
    now: Timestamp,
) -> rusqlite::Result<bool> {
    if amount_of(conn, user, cause)?.is_some() || !ensure_card(conn, user, now)? {
        return Ok(false);
    }
    let which = [id(user.get())];
    let before: i64 = conn
        .prepare_cached("SELECT credits FROM user_info WHERE user_id = ?1")?
        .query_row(which, |row| row.get(0))?;
    let number: i64 = conn
        .prepare_cached("SELECT COALESCE(MAX(number), 0) + 1 FROM credit_lines WHERE user_id = ?1")?
        .query_row(which, |row| row.get(0))?;
    // A sum changed behind the mall must not keep an order from its refund. The ledger check reports it.
    let sum = before.saturating_add(amount).max(0);
    let (kind, reference) = cause.in_row();
    conn.prepare_cached(
        "INSERT INTO credit_lines (user_id, number, kind, reference, amount, sum_after, at_ms)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?
    .execute([id(user.get()), number, kind, id(reference), amount, sum, now.as_millis()])?;
    conn.prepare_cached("UPDATE user_info SET credits = ?2 WHERE user_id = ?1")?
        .execute([id(user.get()), sum])?;
    Ok(true)
}

/// Writes the lines for imported cards, after an import into an empty mall.
pub(super) fn add_imported(conn: &Connection, now: Timestamp) -> rusqlite::Result<()> {
    conn.execute(
        "INSERT INTO credit_lines (user_id, number, kind, reference, amount, sum_after, at_ms)
         SELECT user_id, 1, 0, 0, credits, credits, ?1 FROM user_info WHERE credits > 0",
        [now.as_millis()],
    )
    .map(drop)
}

fn set_level(
    conn: &Connection,
    user: UserId,
    level: Option<u8>,
    now: Timestamp,
) -> rusqlite::Result<SetLevelOutcome> {
    let is_there = conn
        .prepare_cached("SELECT 1 FROM users WHERE id = ?1 AND deleted_ms IS NULL")?
        .exists([id(user.get())])?;
    if !is_there || !ensure_card(conn, user, now)? {
        return Ok(SetLevelOutcome::NoSuchUser);
    }
    let before = conn
        .prepare_cached("SELECT set_level FROM user_info WHERE user_id = ?1")?
        .query_row([id(user.get())], |row| row.get(0))?;
    conn.prepare_cached("UPDATE user_info SET set_level = ?2, updated_ms = ?3 WHERE user_id = ?1")?
        .execute(params![id(user.get()), level, now.as_millis()])?;
    Ok(SetLevelOutcome::Done { before })
}

/// Returns the amount of a cause's line.
fn amount_of(conn: &Connection, user: UserId, cause: CreditCause) -> rusqlite::Result<Option<i64>> {
    let (kind, reference) = cause.in_row();
    conn.prepare_cached(
        "SELECT amount FROM credit_lines WHERE user_id = ?1 AND kind = ?2 AND reference = ?3",
    )?
    .query_row([id(user.get()), kind, id(reference)], |row| row.get(0))
    .optional()
}

/// Inserts an empty card for a user without one. Returns whether the user exists.
fn ensure_card(conn: &Connection, user: UserId, now: Timestamp) -> rusqlite::Result<bool> {
    let has_card =
        conn.prepare_cached("SELECT 1 FROM user_info WHERE user_id = ?1")?.exists([id(user.get())])?;
    if has_card {
        return Ok(true);
    }
    let inserted = conn
        .prepare_cached(
            "INSERT INTO user_info (user_id, city, introduce, gender, birthday, credits, level, updated_ms)
             SELECT id, '', '', 0, NULL, 0, 0, ?2 FROM users WHERE id = ?1",
        )?
        .execute([id(user.get()), now.as_millis()])?;
    Ok(inserted > 0)
}

fn line(row: &Row<'_>) -> rusqlite::Result<CreditLine> {
    let (kind, reference) = (row.get(1)?, get_id(row, 2)?);
    Ok(CreditLine {
        number: get_count(row, 0)?,
        cause: CreditCause::from_row(kind, reference).ok_or_else(|| unreadable(1, kind))?,
        amount: row.get(3)?,
        sum: get_count(row, 4)?,
        at: get_time(row, 5)?,
    })
}
