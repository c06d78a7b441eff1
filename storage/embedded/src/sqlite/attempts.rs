//! The [`Attempts`] port on SQLite.

use async_trait::async_trait;
use mallbox_storage::backend::Numbered as _;
use mallbox_storage::{
    ATTEMPTS_SWEEP_MAX, Attempt, Attempts, Signals, StoreError, StoredAttempt, Timestamp, UserId, VoucherId,
};
use rusqlite::{Connection, Row, params};

use super::Database;
use super::columns::{after, get_id, get_known, get_time, id};
use super::errors::unreadable;

pub(crate) struct EmbeddedAttempts(Database);

impl EmbeddedAttempts {
    pub(crate) fn new(database: Database) -> Self {
        Self(database)
    }
}

/// Head of every query for attempts; [`attempt`] reads the columns.
const SELECT: &str =
    "SELECT number, at_ms, voucher_id, user_id, address, device, outcome, score, signals FROM attempts";

#[async_trait]
impl Attempts for EmbeddedAttempts {
    async fn append(&self, attempts: &[Attempt]) -> Result<(), StoreError> {
        let attempts = attempts.to_vec();
        self.0.write("append attempts", move |conn| append(conn, &attempts)).await
    }

    async fn of_sale(
        &self,
        voucher: VoucherId,
        before: Option<u64>,
        max: u32,
    ) -> Result<Vec<StoredAttempt>, StoreError> {
        let before = after(before.unwrap_or(u64::MAX));
        let job = move |conn: &Connection| {
            conn.prepare_cached(&format!(
                "{SELECT} WHERE voucher_id = ?1 AND number < ?2 ORDER BY number DESC LIMIT ?3"
            ))?
            .query_map(params![id(voucher.get()), before, max], attempt)?
            .collect()
        };
        self.0.read("attempts at sale", job).await
    }

    async fn of_user(&self, user: UserId, last: u64, max: u32) -> Result<Vec<StoredAttempt>, StoreError> {
        let job = move |conn: &Connection| {
            conn.prepare_cached(&format!(
                "{SELECT} WHERE user_id = ?1 AND number > ?2 ORDER BY number LIMIT ?3"
            ))?
            .query_map(params![id(user.get()), after(last), max], attempt)?
            .collect()
        };
        self.0.read("attempts of user", job).await
    }

    async fn sweep(&self, before: Timestamp, keep: u64) -> Result<u64, StoreError> {
        self.0.write("sweep attempts", move |conn| sweep(conn, before, keep)).await
    }
}

fn append(conn: &Connection, attempts: &[Attempt]) -> rusqlite::Result<()> {
    let mut insert = conn.prepare_cached(
        "INSERT INTO attempts (at_ms, voucher_id, user_id, address, device, outcome, score, signals)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?;
    for attempt in attempts {
        insert.execute(params![
            attempt.at.as_millis(),
            id(attempt.voucher.get()),
            id(attempt.user.get()),
            attempt.address.map(id),
            attempt.device.map(id),
            attempt.outcome.number(),
            attempt.score,
            attempt.signals.to_row(),
        ])?;
    }
    Ok(())
}

fn attempt(row: &Row<'_>) -> rusqlite::Result<StoredAttempt> {
    let hash = |column| row.get::<_, Option<i64>>(column).map(|hash| hash.map(i64::cast_unsigned));
    let signals: String = row.get(8)?;
    let attempt = Attempt {
        at: get_time(row, 1)?,
        voucher: VoucherId::new(get_id(row, 2)?),
        user: UserId::new(get_id(row, 3)?),
        address: hash(4)?,
        device: hash(5)?,
        outcome: get_known(row, 6)?,
        score: row.get(7)?,
        signals: Signals::in_row(&signals).ok_or_else(|| unreadable(8, signals))?,
    };
    Ok(StoredAttempt { number: get_id(row, 0)?, attempt })
}

/// Deletes from the oldest [`ATTEMPTS_SWEEP_MAX`] numbers only, so that a run without work reads few rows.
fn sweep(conn: &Connection, before: Timestamp, keep: u64) -> rusqlite::Result<u64> {
    let ends: (Option<i64>, Option<i64>) = conn
        .prepare_cached("SELECT (SELECT MIN(number) FROM attempts), (SELECT MAX(number) FROM attempts)")?
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let (Some(oldest), Some(newest)) = ends else { return Ok(0) };
    let deleted = conn
        .prepare_cached("DELETE FROM attempts WHERE number < ?1 AND (at_ms < ?2 OR number <= ?3)")?
        .execute([
            oldest.saturating_add(ATTEMPTS_SWEEP_MAX.into()),
            before.as_millis(),
            newest.saturating_sub_unsigned(keep),
        ])?;
    Ok(deleted as u64)
}
