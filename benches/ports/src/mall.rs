//! A temporary mall on one side, and the growth of the memory that holds its data.

use std::path::PathBuf;

use mallbox_storage::{Durability, Storage};
use mallbox_storage_embedded::EmbeddedOptions;
use mallbox_storage_production::{ProductionOptions, TemporaryMall};
use tempfile::TempDir;

use crate::error::BenchError;
use crate::insist::insist;
use crate::process_memory::resident;
use crate::raw_redis::RawRedis;
use crate::servers::ServerAddresses;
use crate::settings::Side;

/// Whether the figures of a port depend on the durability of Redis.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Keep {
    /// Writes are durable when a call returns.
    Durably,
    /// Nothing that the port writes has to survive.
    InMemory,
}

/// A mall, empty when opened.
pub struct Mall {
    /// The ports.
    pub storage: Storage,
    /// The back end.
    pub side: Side,
    place: Place,
    /// Memory of the empty mall.
    before: Option<u64>,
    /// How durable a write is when a call returns.
    durability: String,
}

enum Place {
    Directory(TempDir),
    Servers { trial: TemporaryMall, redis: RawRedis, mysql_process: Option<u32> },
}

impl Mall {
    /// Opens a mall in a new directory below `dir`.
    pub async fn in_directory(dir: &std::path::Path) -> Result<Self, BenchError> {
        let dir = TempDir::with_prefix_in("mall-", dir)?;
        let options = EmbeddedOptions::new(dir.path().join("mall"));
        debug_assert_eq!(options.durability, Durability::Power);
        let storage = mallbox_storage_embedded::open(options).await?;
        let (before, durability) = (resident(None), "durability power".to_owned());
        Ok(Self { storage, side: Side::Directory, place: Place::Directory(dir), before, durability })
    }

    /// Opens a mall with names of its own on servers.
    pub async fn on_servers(servers: &ServerAddresses, keep: Keep) -> Result<Self, BenchError> {
        let url = if keep == Keep::Durably { &servers.redis } else { &servers.redis_in_memory };
        let redis = RawRedis::connect(url).await?;
        let trial = TemporaryMall::beside(&ProductionOptions::new(url, &*servers.mysql), "bench").await?;
        let storage = mallbox_storage_production::open(trial.options()).await?;
        let durability =
            format!("{}; {}", redis.durability().await?, mysql_durability(trial.options()).await?);
        let before = on_servers(&redis, servers.mysql_process).await?;
        let place = Place::Servers { trial, redis, mysql_process: servers.mysql_process };
        Ok(Self { storage, side: Side::Servers, place, before, durability })
    }

    /// Returns the growth of the memory since the mall was empty, in bytes: in a directory of this process,
    /// on servers of Redis' data and of the MariaDB of the bench. `None` if too small to be seen.
    pub(crate) async fn memory(&self) -> Result<Option<u64>, BenchError> {
        let now = match &self.place {
            Place::Directory(_) => resident(None),
            Place::Servers { redis, mysql_process, .. } => on_servers(redis, *mysql_process).await?,
        };
        Ok(growth(now, self.before))
    }

    /// Returns the memory of Redis' data in bytes; `None` in a directory.
    pub async fn redis_bytes(&self) -> Result<Option<u64>, BenchError> {
        match &self.place {
            Place::Directory(_) => Ok(None),
            Place::Servers { redis, .. } => redis.memory().await,
        }
    }

    /// Returns how durable a write is when a call returns.
    pub(crate) fn durability(&self) -> &str {
        &self.durability
    }

    /// Returns a directory of the mall for files of the bench.
    pub(crate) fn dir(&self) -> Option<PathBuf> {
        match &self.place {
            Place::Directory(dir) => Some(dir.path().to_owned()),
            Place::Servers { .. } => None,
        }
    }

    /// Returns the servers for bare commands.
    pub(crate) fn raw(&self) -> Option<Raw> {
        match &self.place {
            Place::Directory(_) => None,
            Place::Servers { trial, redis, .. } => Some(Raw {
                redis: redis.clone(),
                prefix: format!("{{{}:raw}}", trial.options().redis.prefix),
                mysql: trial.options().mysql.clone(),
            }),
        }
    }

    /// Counts the rows of tables for MySQL's planner, as MySQL does by itself some seconds after an import.
    pub async fn analyze(&self, tables: &str) -> Result<(), BenchError> {
        use mysql_async::prelude::Queryable as _;
        let Some(raw) = self.raw() else { return Ok(()) };
        let mut connection = mysql_async::Conn::from_url(&raw.mysql).await?;
        connection.query_drop(format!("ANALYZE TABLE {tables}")).await?;
        Ok(connection.disconnect().await?)
    }

    /// Closes the mall and removes everything that it stored.
    pub async fn close(self) -> Result<(), BenchError> {
        self.storage.base.upkeep.close().await?;
        drop(self.storage);
        match self.place {
            Place::Directory(dir) => dir.close()?,
            Place::Servers { trial, .. } => insist(|| trial.remove()).await?,
        }
        Ok(())
    }
}

/// Servers for the commands of tutorials. What they store is gone with the mall.
#[derive(Clone)]
pub(crate) struct Raw {
    pub(crate) redis: RawRedis,
    /// Begin of every key; all of one slot.
    pub(crate) prefix: String,
    /// URL of the mall's database.
    pub(crate) mysql: String,
}

impl Raw {
    /// Returns a command on a key.
    pub(crate) fn command(&self, name: &str, key: &str) -> redis::Cmd {
        let mut command = redis::cmd(name);
        command.arg(format!("{}:{key}", self.prefix));
        command
    }

    /// Returns the memory of Redis' data.
    pub(crate) async fn memory(&self) -> Result<Option<u64>, BenchError> {
        self.redis.memory().await
    }

    /// Returns the growth of the memory of Redis' data; `None` if too small to be seen.
    pub(crate) async fn growth(&self, before: Option<u64>) -> Result<Option<u64>, BenchError> {
        Ok(growth(self.memory().await?, before))
    }

    /// Returns the memory of one key.
    pub(crate) async fn memory_of(&self, key: &str) -> Result<Option<u64>, BenchError> {
        let mut usage = redis::cmd("MEMORY");
        usage.arg("USAGE").arg(format!("{}:{key}", self.prefix)).arg("SAMPLES").arg(0);
        self.redis.query(&usage).await
    }
}

fn growth(now: Option<u64>, before: Option<u64>) -> Option<u64> {
    now.zip(before).and_then(|(now, before)| now.checked_sub(before)).filter(|bytes| *bytes > 0)
}

async fn on_servers(redis: &RawRedis, mysql_process: Option<u32>) -> Result<Option<u64>, BenchError> {
    let of_mysql = mysql_process.and_then(|process| resident(Some(process))).unwrap_or(0);
    Ok(redis.memory().await?.map(|bytes| bytes + of_mysql))
}

async fn mysql_durability(options: &ProductionOptions) -> Result<String, BenchError> {
    use mysql_async::prelude::Queryable as _;
    let mut connection = mysql_async::Conn::from_url(&options.mysql).await?;
    let flush: Option<String> =
        connection.query_first("SELECT CAST(@@innodb_flush_log_at_trx_commit AS CHAR)").await?;
    connection.disconnect().await?;
    Ok(format!("MySQL: innodb_flush_log_at_trx_commit {}", flush.unwrap_or_default()))
}
