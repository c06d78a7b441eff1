//! [`Attempts`] in MySQL.

use async_trait::async_trait;
use mallbox_storage::backend::Numbered as _;
use mallbox_storage::{
    ATTEMPTS_SWEEP_MAX, Attempt, Attempts, Signals, StoreError, StoredAttempt, Timestamp, UserId, VoucherId,
};
use mysql_async::{Conn, Value};

use super::columns::{Columns, all, execute, first};
use super::database::Database;
use super::errors::MysqlError;
use super::job::boxed;
use super::multi_row;

pub(super) struct MysqlAttempts(pub(super) Database);

/// Head of every query for attempts; read by [`attempt`].
const SELECT: &str =
    "SELECT number, at_ms, voucher_id, user_id, address, device, outcome, score, signals FROM attempts";

#[async_trait]
impl Attempts for MysqlAttempts {
    async fn append(&self, attempts: &[Attempt]) -> Result<(), StoreError> {
        let rows: Vec<[Value; 8]> = attempts.iter().map(values).collect();
        let rows = &*rows;
        self.0
            .write("append attempts", |conn| {
                boxed(async move {
                    let head = "INSERT INTO attempts
                        (at_ms, voucher_id, user_id, address, device, outcome, score, signals)";
                    multi_row::insert(conn, head, "(?, ?, ?, ?, ?, ?, ?, ?)", rows).await
                })
            })
            .await
    }

    async fn of_sale(
        &self,
        voucher: VoucherId,
        before: Option<u64>,
        max: u32,
    ) -> Result<Vec<StoredAttempt>, StoreError> {
        let sql: &str = &format!("{SELECT} WHERE voucher_id = ? AND number < ? ORDER BY number DESC LIMIT ?");
        let which = (voucher.get(), before.unwrap_or(u64::MAX), max);
        self.0
            .read("attempts at sale", |conn| boxed(async move { all(conn, sql, which, attempt).await }))
            .await
    }

    async fn of_user(&self, user: UserId, after: u64, max: u32) -> Result<Vec<StoredAttempt>, StoreError> {
        let sql: &str = &format!("{SELECT} WHERE user_id = ? AND number > ? ORDER BY number LIMIT ?");
        let which = (user.get(), after, max);
        self.0
            .read("attempts of user", |conn| boxed(async move { all(conn, sql, which, attempt).await }))
            .await
    }

    async fn sweep(&self, before: Timestamp, keep: u64) -> Result<u64, StoreError> {
        self.0.write("sweep attempts", |conn| boxed(async move { sweep(conn, before, keep).await })).await
    }
}

fn values(attempt: &Attempt) -> [Value; 8] {
    [
        attempt.at.as_millis().into(),
        attempt.voucher.get().into(),
        attempt.user.get().into(),
        attempt.address.into(),
        attempt.device.into(),
        attempt.outcome.number().into(),
        attempt.score.into(),
        attempt.signals.to_row().into(),
    ]
}

fn attempt(row: &mut Columns) -> Result<StoredAttempt, MysqlError> {
    let number = row.next()?;
    let attempt = Attempt {
        at: row.time()?,
        voucher: VoucherId::new(row.next()?),
        user: UserId::new(row.next()?),
        address: row.next()?,
        device: row.next()?,
        outcome: row.known()?,
        score: row.next()?,
        signals: {
            let text: String = row.next()?;
            Signals::in_row(&text).ok_or_else(|| row.unreadable_last(text))?
        },
    };
    Ok(StoredAttempt { number, attempt })
}

/// Deletes from the oldest [`ATTEMPTS_SWEEP_MAX`] numbers only, so that a run without work reads few rows.
async fn sweep(conn: &mut Conn, before: Timestamp, keep: u64) -> Result<u64, MysqlError> {
    let sql = "SELECT MIN(number), MAX(number) FROM attempts";
    let read = |row: &mut Columns| Ok((row.next::<Option<u64>>()?, row.next::<Option<u64>>()?));
    let Some((Some(oldest), Some(newest))) = first(conn, sql, (), read).await? else { return Ok(0) };
    let sql = "DELETE FROM attempts WHERE number < ? AND (at_ms < ? OR number <= ?)";
    let border = oldest.saturating_add(ATTEMPTS_SWEEP_MAX.into());
    execute(conn, sql, (border, before.as_millis(), newest.saturating_sub(keep))).await
}
