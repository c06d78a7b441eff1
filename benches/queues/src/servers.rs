//! The servers of a run: started for it, or the user's own, which must be empty.

use std::path::Path;

use mallbox_bench_servers::{Host, MariaDb, REDIS, Redis, RedisOptions, ServerError, version};

use crate::error::{QueueError, broken};

/// Flags of MariaDB: every commit is flushed, as by default.
const MARIADB_FLAGS: [&str; 1] = ["--innodb-flush-log-at-trx-commit=1"];

/// When a Redis writes to its disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Append {
    /// Never: neither an append-only file nor a snapshot in time.
    No,
    /// `appendonly yes`, `appendfsync everysec`: the default of the append-only file.
    EverySecond,
    /// `appendonly yes`, `appendfsync always`.
    Always,
}

impl Append {
    pub(crate) const ALL: [Self; 3] = [Self::No, Self::EverySecond, Self::Always];

    /// Returns the setting in Redis' words.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::No => "appendonly no",
            Self::EverySecond => "appendfsync everysec",
            Self::Always => "appendfsync always",
        }
    }

    fn options(self, host: Host) -> RedisOptions {
        let options = RedisOptions::default().on(host);
        match self {
            Self::No => options,
            Self::EverySecond => options.with("appendonly", "yes").with("appendfsync", "everysec"),
            Self::Always => options.with("appendonly", "yes").with("appendfsync", "always"),
        }
    }
}

/// Servers started for the bench, gone with the value.
#[derive(Debug)]
pub struct OwnServers {
    /// A Redis for each setting, in the order of [`Append::ALL`].
    redis: Vec<Redis>,
    mariadb: Option<MariaDb>,
}

impl OwnServers {
    /// Starts the servers that are asked for, with their data below `dir`. A program that is not installed
    /// starts no server.
    ///
    /// # Errors
    /// [`QueueError::Server`]: an installed server does not start.
    pub fn start(dir: &Path, needs_redis: bool, needs_mysql: bool) -> Result<Self, QueueError> {
        let host = Host::beside_clients(dir);
        let mut redis = Vec::new();
        if needs_redis && version(REDIS).is_some() {
            for append in Append::ALL {
                redis.push(Redis::start_with(append.options(host.clone()))?);
            }
        }
        let mariadb = match needs_mysql.then(|| MariaDb::start_on(host, &MARIADB_FLAGS)) {
            Some(Err(ServerError::Missing { .. })) | None => None,
            Some(started) => Some(started?),
        };
        Ok(Self { redis, mariadb })
    }

    /// Returns whether Redis runs.
    #[must_use]
    pub fn has_redis(&self) -> bool {
        !self.redis.is_empty()
    }

    /// Returns whether MariaDB runs.
    #[must_use]
    pub fn has_mysql(&self) -> bool {
        self.mariadb.is_some()
    }

    fn redis(&mut self, append: Append) -> Result<&mut Redis, QueueError> {
        let at = Append::ALL.iter().position(|setting| *setting == append);
        at.and_then(|at| self.redis.get_mut(at)).ok_or_else(|| broken("no Redis runs"))
    }
}

/// The servers of a run.
#[derive(Debug)]
pub enum QueueServers {
    /// Started by the bench: their settings are known, and they may be killed.
    Own(OwnServers),
    /// URLs of the user's Redis and MySQL, which hold nothing.
    Given {
        /// URL of Redis.
        redis: String,
        /// URL of MySQL with a database that is empty or does not exist.
        mysql: String,
    },
}

impl QueueServers {
    /// Returns whether the bench started the servers, and may kill them and change their settings.
    pub(crate) fn are_own(&self) -> bool {
        matches!(self, Self::Own(_))
    }

    pub(crate) fn redis_url(&mut self, append: Append) -> Result<String, QueueError> {
        match self {
            Self::Own(servers) => Ok(servers.redis(append)?.url()),
            Self::Given { redis, .. } => Ok(redis.clone()),
        }
    }

    pub(crate) fn mysql_url(&self) -> Result<String, QueueError> {
        match self {
            Self::Own(servers) => {
                let mariadb = servers.mariadb.as_ref().ok_or_else(|| broken("no MySQL runs"))?;
                Ok(mariadb.url("mallbox_queues"))
            }
            Self::Given { mysql, .. } => Ok(mysql.clone()),
        }
    }

    /// Kills a Redis of the bench (SIGKILL) and starts it again with its data.
    pub(crate) fn crash_redis(&mut self, append: Append) -> Result<(), QueueError> {
        match self {
            Self::Own(servers) => {
                let redis = servers.redis(append)?;
                redis.kill();
                Ok(redis.restart()?)
            }
            Self::Given { .. } => Err(broken("the Redis belongs to somebody else")),
        }
    }

    /// Kills the MariaDB of the bench (SIGKILL) and starts it again with its data.
    pub(crate) fn crash_mysql(&mut self) -> Result<(), QueueError> {
        match self {
            Self::Own(OwnServers { mariadb: Some(mariadb), .. }) => {
                mariadb.kill();
                Ok(mariadb.restart()?)
            }
            _ => Err(broken("the MySQL belongs to somebody else")),
        }
    }
}
