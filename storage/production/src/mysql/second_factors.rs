//! [`SecondFactors`] in MySQL.

use async_trait::async_trait;
use mallbox_storage::{
    ActiveFactor, FactorSeed, PendingFactor, RecoveryHash, SecondFactor, SecondFactors, StoreError,
    Timestamp, UserId,
};
use mysql_async::Conn;

use super::columns::{Columns, execute, first};
use super::database::Database;
use super::errors::MysqlError;
use super::job::boxed;

pub(super) struct MysqlSecondFactors(pub(super) Database);

#[async_trait]
impl SecondFactors for MysqlSecondFactors {
    async fn get(&self, user: UserId) -> Result<SecondFactor, StoreError> {
        let sql = "SELECT seed, since_ms, last_step,
                     (SELECT COUNT(*) FROM recovery_codes WHERE recovery_codes.user_id = second_factors.user_id),
                     pending_seed, pending_ms
                   FROM second_factors WHERE user_id = ?";
        let found = self
            .0
            .read("second factor", |conn| {
                boxed(async move { first(conn, sql, (user.get(),), second_factor).await })
            })
            .await?;
        Ok(found.unwrap_or_default())
    }

    async fn begin(&self, user: UserId, seed: FactorSeed, now: Timestamp) -> Result<bool, StoreError> {
        self.0
            .write("begin second factor", |conn| boxed(async move { begin(conn, user, seed, now).await }))
            .await
    }

    async fn confirm(
        &self,
        user: UserId,
        seed: FactorSeed,
        step: u64,
        codes: &[RecoveryHash],
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let sql = "UPDATE second_factors SET seed = ?, since_ms = ?, last_step = ?,
                     pending_seed = NULL, pending_ms = NULL
                   WHERE user_id = ? AND pending_seed = ?";
        self.0
            .write("confirm second factor", |conn| {
                boxed(async move {
                    let (seed, now) = (seed.0.as_slice(), now.as_millis());
                    if execute(conn, sql, (seed, now, step, user.get(), seed)).await? == 0 {
                        return Ok(false);
                    }
                    put_codes(conn, user, codes).await?;
                    Ok(true)
                })
            })
            .await
    }

    async fn accept(&self, user: UserId, seed: FactorSeed, step: u64) -> Result<bool, StoreError> {
        let sql = "UPDATE second_factors SET last_step = ? WHERE user_id = ? AND seed = ? AND last_step < ?";
        let accepted = self.0.write_at_once("accept second factor", |conn| {
            boxed(async move { execute(conn, sql, (step, user.get(), seed.0.as_slice(), step)).await })
        });
        Ok(accepted.await? > 0)
    }

    async fn use_recovery_code(&self, user: UserId, code: RecoveryHash) -> Result<bool, StoreError> {
        let sql = "DELETE FROM recovery_codes WHERE user_id = ? AND hash = ?";
        let removed = self.0.write_at_once("use recovery code", |conn| {
            boxed(async move { execute(conn, sql, (user.get(), code.0.as_slice())).await })
        });
        Ok(removed.await? > 0)
    }

    async fn renew_recovery_codes(
        &self,
        user: UserId,
        seed: FactorSeed,
        codes: &[RecoveryHash],
    ) -> Result<bool, StoreError> {
        let sql = "SELECT user_id FROM second_factors WHERE user_id = ? AND seed = ? FOR UPDATE";
        self.0
            .write("renew recovery codes", |conn| {
                boxed(async move {
                    let found = first(conn, sql, (user.get(), seed.0.as_slice()), Columns::next::<u64>);
                    if found.await?.is_none() {
                        return Ok(false);
                    }
                    put_codes(conn, user, codes).await?;
                    Ok(true)
                })
            })
            .await
    }

    async fn remove(&self, user: UserId) -> Result<bool, StoreError> {
        let sql = "SELECT seed IS NOT NULL FROM second_factors WHERE user_id = ? FOR UPDATE";
        self.0
            .write("remove second factor", |conn| {
                boxed(async move {
                    let had = first(conn, sql, (user.get(),), Columns::next::<bool>).await?;
                    erase(conn, user.get()).await?;
                    Ok(had == Some(true))
                })
            })
            .await
    }
}

async fn begin(conn: &mut Conn, user: UserId, seed: FactorSeed, now: Timestamp) -> Result<bool, MysqlError> {
    // Locks the user: a deletion at the same moment removes the enrolment, or is seen here.
    let sql = "SELECT deleted_ms FROM users WHERE id = ? FOR UPDATE";
    if first(conn, sql, (user.get(),), Columns::next::<Option<i64>>).await? != Some(None) {
        return Ok(false);
    }
    let sql = "INSERT INTO second_factors (user_id, last_step, pending_seed, pending_ms) VALUES (?, 0, ?, ?)
               ON DUPLICATE KEY UPDATE pending_seed = ?, pending_ms = ?";
    let (seed, now) = (seed.0.as_slice(), now.as_millis());
    execute(conn, sql, (user.get(), seed, now, seed, now)).await?;
    Ok(true)
}

/// Removes factor, enrolment and recovery codes.
pub(super) async fn erase(conn: &mut Conn, user: u64) -> Result<(), MysqlError> {
    for sql in
        ["DELETE FROM second_factors WHERE user_id = ?", "DELETE FROM recovery_codes WHERE user_id = ?"]
    {
        execute(conn, sql, (user,)).await?;
    }
    Ok(())
}

async fn put_codes(conn: &mut Conn, user: UserId, codes: &[RecoveryHash]) -> Result<(), MysqlError> {
    execute(conn, "DELETE FROM recovery_codes WHERE user_id = ?", (user.get(),)).await?;
    for code in codes {
        let sql = "INSERT INTO recovery_codes (user_id, hash) VALUES (?, ?)";
        execute(conn, sql, (user.get(), code.0.as_slice())).await?;
    }
    Ok(())
}

fn second_factor(row: &mut Columns) -> Result<SecondFactor, MysqlError> {
    let (active_seed, since) = (seed(row)?, row.time_if_any()?);
    let (last_step, recovery_codes) = (row.count()?, row.count()?);
    let (pending_seed, begun) = (seed(row)?, row.time_if_any()?);
    let active = active_seed.zip(since);
    Ok(SecondFactor {
        active: active.map(|(seed, since)| ActiveFactor { seed, since, last_step, recovery_codes }),
        pending: pending_seed.zip(begun).map(|(seed, begun)| PendingFactor { seed, begun }),
    })
}

fn seed(row: &mut Columns) -> Result<Option<FactorSeed>, MysqlError> {
    let Some(bytes) = row.next::<Option<Vec<u8>>>()? else { return Ok(None) };
    let seed = bytes.try_into().map_err(|_| row.unreadable_last("a seed of another length"))?;
    Ok(Some(FactorSeed(seed)))
}
