//! The [`SecondFactors`] port on SQLite.

use async_trait::async_trait;
use mallbox_storage::{
    ActiveFactor, FactorSeed, PendingFactor, RecoveryHash, SecondFactor, SecondFactors, StoreError,
    Timestamp, UserId,
};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::Database;
use super::columns::{get_count, get_time, id};

pub(crate) struct EmbeddedSecondFactors(Database);

impl EmbeddedSecondFactors {
    pub(crate) fn new(database: Database) -> Self {
        Self(database)
    }
}

#[async_trait]
impl SecondFactors for EmbeddedSecondFactors {
    async fn get(&self, user: UserId) -> Result<SecondFactor, StoreError> {
        let job = move |conn: &Connection| {
            let found = conn
                .prepare_cached(
                    "SELECT seed, since_ms, last_step,
                       (SELECT COUNT(*) FROM recovery_codes WHERE recovery_codes.user_id = ?1),
                       pending_seed, pending_ms
                     FROM second_factors WHERE user_id = ?1",
                )?
                .query_row([id(user.get())], second_factor)
                .optional()?;
            Ok(found.unwrap_or_default())
        };
        self.0.read("second factor", job).await
    }

    async fn begin(&self, user: UserId, seed: FactorSeed, now: Timestamp) -> Result<bool, StoreError> {
        let job = move |conn: &Connection| {
            conn.prepare_cached(
                "INSERT INTO second_factors (user_id, last_step, pending_seed, pending_ms)
                 SELECT id, 0, ?2, ?3 FROM users WHERE id = ?1 AND deleted_ms IS NULL
                 ON CONFLICT (user_id) DO UPDATE SET pending_seed = ?2, pending_ms = ?3",
            )?
            .execute(params![id(user.get()), seed.0, now.as_millis()])
            .map(|changed| changed > 0)
        };
        self.0.write("begin second factor", job).await
    }

    async fn confirm(
        &self,
        user: UserId,
        seed: FactorSeed,
        step: u64,
        codes: &[RecoveryHash],
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let codes = codes.to_vec();
        let job = move |conn: &Connection| {
            let changed = conn
                .prepare_cached(
                    "UPDATE second_factors SET seed = ?2, since_ms = ?4, last_step = ?3,
                       pending_seed = NULL, pending_ms = NULL
                     WHERE user_id = ?1 AND pending_seed = ?2",
                )?
                .execute(params![id(user.get()), seed.0, id(step), now.as_millis()])?;
            if changed == 0 {
                return Ok(false);
            }
            put_codes(conn, user, &codes)?;
            Ok(true)
        };
        self.0.write("confirm second factor", job).await
    }

    async fn accept(&self, user: UserId, seed: FactorSeed, step: u64) -> Result<bool, StoreError> {
        let job = move |conn: &Connection| {
            conn.prepare_cached(
                "UPDATE second_factors SET last_step = ?3 WHERE user_id = ?1 AND seed = ?2 AND last_step < ?3",
            )?
            .execute(params![id(user.get()), seed.0, id(step)])
            .map(|changed| changed > 0)
        };
        self.0.write("accept second factor", job).await
    }

    async fn use_recovery_code(&self, user: UserId, code: RecoveryHash) -> Result<bool, StoreError> {
        let job = move |conn: &Connection| {
            conn.prepare_cached("DELETE FROM recovery_codes WHERE user_id = ?1 AND hash = ?2")?
                .execute(params![id(user.get()), code.0])
                .map(|removed| removed > 0)
        };
        self.0.write("use recovery code", job).await
    }

    async fn renew_recovery_codes(
        &self,
        user: UserId,
        seed: FactorSeed,
        codes: &[RecoveryHash],
    ) -> Result<bool, StoreError> {
        let codes = codes.to_vec();
        let job = move |conn: &Connection| {
            let is_in_force = conn
                .prepare_cached("SELECT 1 FROM second_factors WHERE user_id = ?1 AND seed = ?2")?
                .exists(params![id(user.get()), seed.0])?;
            if is_in_force {
                put_codes(conn, user, &codes)?;
            }
            Ok(is_in_force)
        };
        self.0.write("renew recovery codes", job).await
    }

    async fn remove(&self, user: UserId) -> Result<bool, StoreError> {
        let job = move |conn: &Connection| {
            let had = conn
                .prepare_cached("SELECT 1 FROM second_factors WHERE user_id = ?1 AND seed IS NOT NULL")?
                .exists([id(user.get())])?;
            erase(conn, id(user.get()))?;
            Ok(had)
        };
        self.0.write("remove second factor", job).await
    }
}

/// Removes factor, enrolment and recovery codes.
pub(super) fn erase(conn: &Connection, user: i64) -> rusqlite::Result<()> {
    for sql in
        ["DELETE FROM second_factors WHERE user_id = ?1", "DELETE FROM recovery_codes WHERE user_id = ?1"]
    {
        conn.prepare_cached(sql)?.execute([user])?;
    }
    Ok(())
}

fn put_codes(conn: &Connection, user: UserId, codes: &[RecoveryHash]) -> rusqlite::Result<()> {
    conn.prepare_cached("DELETE FROM recovery_codes WHERE user_id = ?1")?.execute([id(user.get())])?;
    let mut insert = conn.prepare_cached("INSERT INTO recovery_codes (user_id, hash) VALUES (?1, ?2)")?;
    for code in codes {
        insert.execute(params![id(user.get()), code.0])?;
    }
    Ok(())
}

fn second_factor(row: &Row<'_>) -> rusqlite::Result<SecondFactor> {
    let active = match row.get::<_, Option<[u8; 16]>>(0)? {
        None => None,
        Some(seed) => Some(ActiveFactor {
            seed: FactorSeed(seed),
            since: get_time(row, 1)?,
            last_step: get_count(row, 2)?,
            recovery_codes: get_count(row, 3)?,
        }),
    };
    let pending = match row.get::<_, Option<[u8; 16]>>(4)? {
        None => None,
        Some(seed) => Some(PendingFactor { seed: FactorSeed(seed), begun: get_time(row, 5)? }),
    };
    Ok(SecondFactor { active, pending })
}
