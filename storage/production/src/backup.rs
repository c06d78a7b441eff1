//! Backups of a mall on servers: its tables as of one moment with what Redis alone has, and a mall made of
//! these in an empty database.
//!
//! Redis alone has the pending claims, visitors and views of days, and what ends with a restore anyway:
//! sessions, login codes, waiting rooms, rate limits. All else in Redis is loaded from MySQL.
//!
//! Reasons and figures: `storage/decisions/0044-backups-of-servers.md`.

use std::io::{self, BufRead};

use mallbox_storage::{Claim, OpenError, Timestamp};

use super::ProductionOptions;
pub use super::copy_error::CopyError;
use super::mysql::{Restore, Snapshot};
use super::redis::RedisUpkeep;

/// A mall on servers as of one moment. Its processes sell on meanwhile.
pub struct ServersSnapshot {
    claims: Vec<Claim>,
    mysql: Snapshot,
    redis: RedisUpkeep,
    prefix: String,
}

impl ServersSnapshot {
    /// Reads the pending claims, then begins the snapshot of the database: a claim that was accepted before
    /// is in either. Changes nothing on the servers.
    ///
    /// # Errors
    /// [`CopyError`]: a server does not respond, or there is no mall of this version or an earlier one.
    pub async fn begin(options: &ProductionOptions) -> Result<Self, CopyError> {
        let redis = RedisUpkeep::to(&options.redis.url).await?;
        let prefix = options.redis.prefix.clone();
        let claims = redis.pending(&prefix).await?;
        Ok(Self { claims, mysql: Snapshot::begin(&options.mysql).await?, redis, prefix })
    }

    /// Returns the claims that were pending before the snapshot. Some may be orders in it.
    #[must_use]
    pub fn claims(&self) -> &[Claim] {
        &self.claims
    }

    /// Returns the number of the last migration of the database's schema.
    #[must_use]
    pub fn schema(&self) -> u64 {
        self.mysql.step()
    }

    /// Returns the names of the tables.
    #[must_use]
    pub fn tables(&self) -> Vec<String> {
        self.mysql.tables()
    }

    /// Returns a setting of the mall; `None` if never stored.
    ///
    /// # Errors
    /// [`CopyError::Store`].
    pub async fn setting(&mut self, name: &str) -> Result<Option<String>, CopyError> {
        self.mysql.setting(name).await
    }

    /// Copies a table to `out`, in pieces that end with a line.
    ///
    /// # Errors
    /// [`CopyError`]: the server failed, or `out` did.
    pub async fn copy_table(
        &mut self,
        table: &str,
        out: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> Result<(), CopyError> {
        self.mysql.copy_table(table, out).await
    }

    /// Copies visitors and views of days to `out`, a line each. Those of the present day go on changing.
    ///
    /// # Errors
    /// [`CopyError`]: Redis failed, or `out` did.
    pub async fn copy_visits(
        &self,
        now: Timestamp,
        out: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> Result<(), CopyError> {
        self.redis.copy_visits(&self.prefix, now, out).await
    }
}

/// A restore into an empty database, with a prefix of keys that nobody uses.
///
/// Until [`finish`](Self::finish) no mall opens the database. A restore that was cut short is begun again:
/// the next one removes what it left.
pub struct ServersRestore {
    mysql: Restore,
    redis: RedisUpkeep,
    prefix: String,
}

impl ServersRestore {
    /// Checks that nobody uses database and prefix, and creates the tables of a schema.
    ///
    /// # Errors
    /// [`CopyError::Open`]: a server does not respond, or the database or the prefix is in use.
    pub async fn begin(options: &ProductionOptions, schema: u64) -> Result<Self, CopyError> {
        let (redis, prefix) = (RedisUpkeep::to(&options.redis.url).await?, options.redis.prefix.clone());
        if redis.has_other_keys(&prefix).await? {
            let detail =
                format!("it has keys of a mall with the prefix {prefix}; choose another with --redis-prefix");
            return Err(OpenError::Unfit { server: format!("Redis at {}", redis.address()), detail }.into());
        }
        Ok(Self { mysql: Restore::begin(&options.mysql, schema).await?, redis, prefix })
    }

    /// Fills a table from the lines of a copy. Reports the bytes read since the last report.
    ///
    /// # Errors
    /// [`CopyError`].
    pub async fn load_table(
        &mut self,
        lines: impl BufRead,
        progress: impl FnMut(u64),
    ) -> Result<(), CopyError> {
        self.mysql.load_table(lines, progress).await
    }

    /// Writes copied visitors and views.
    ///
    /// # Errors
    /// [`CopyError`].
    pub async fn load_visits(&self, lines: impl BufRead, now: Timestamp) -> Result<(), CopyError> {
        self.redis.put_visits(&self.prefix, lines, now).await
    }

    /// Migrates the schema to this version, makes orders of the `claims` that were pending, removes settings
    /// whose names begin with one of `forgotten`, and stores `settings`. From then on a mall can open the
    /// database.
    ///
    /// # Errors
    /// [`CopyError::Input`] if a table was not filled; any other if a server failed.
    pub async fn finish(
        mut self,
        claims: &[Claim],
        forgotten: &[&str],
        settings: &[(&str, String)],
        now: Timestamp,
    ) -> Result<(), CopyError> {
        self.mysql.complete(claims, forgotten, settings, now).await?;
        self.mysql.finish().await
    }
}
