//! The servers of a run: started for it, or the user's own, which must be empty.

use std::path::Path;

use mallbox_bench_servers::{Host, MariaDb, Redis, RedisOptions, ServerError};
use mallbox_storage_production::{Occupancy, ProductionOptions, TemporaryMall};
use serde::{Deserialize, Serialize};

use crate::error::{BenchError, ensure};

/// Flags of MariaDB: a buffer pool that holds the tables, as on a server of its own, and every commit
/// flushed.
const MARIADB: [&str; 3] =
    ["--innodb-buffer-pool-size=1G", "--innodb-log-file-size=512M", "--innodb-flush-log-at-trx-commit=1"];

/// Addresses of the servers, for the process of each part.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ServerAddresses {
    /// A Redis whose writes are as durable as it can: `appendfsync always` if started by the bench.
    pub redis: String,
    /// A Redis for data that need not survive; the durable one of the user's servers.
    pub redis_in_memory: String,
    /// MySQL, with any database.
    pub mysql: String,
    /// Process of MariaDB, if started by the bench: its memory counts.
    pub mysql_process: Option<u32>,
}

/// Servers started for the bench, gone with the value.
#[derive(Debug)]
pub struct OwnServers {
    durable: Redis,
    in_memory: Redis,
    mariadb: MariaDb,
}

impl OwnServers {
    /// Starts two Redis servers, one with `appendfsync always` and one without persistence, and a MariaDB,
    /// with their data below `dir`. `None` if a program is not installed; the name of the program.
    ///
    /// # Errors
    /// [`BenchError::Server`]: an installed server does not start.
    pub fn start(dir: &Path) -> Result<Result<Self, &'static str>, BenchError> {
        match Self::start_installed(dir) {
            Ok(servers) => Ok(Ok(servers)),
            Err(ServerError::Missing { program, .. }) => Ok(Err(program)),
            Err(error) => Err(error.into()),
        }
    }

    fn start_installed(dir: &Path) -> Result<Self, ServerError> {
        let host = Host::beside_clients(dir);
        let durable =
            RedisOptions::default().with("appendonly", "yes").with("appendfsync", "always").on(host.clone());
        Ok(Self {
            durable: Redis::start_with(durable)?,
            in_memory: Redis::start_with(RedisOptions::default().on(host.clone()))?,
            mariadb: MariaDb::start_on(host, &MARIADB)?,
        })
    }

    /// Returns the addresses.
    #[must_use]
    pub fn addresses(&self) -> ServerAddresses {
        ServerAddresses {
            redis: self.durable.url(),
            redis_in_memory: self.in_memory.url(),
            mysql: self.mariadb.url("mallbox"),
            mysql_process: self.mariadb.process_id(),
        }
    }
}

impl ServerAddresses {
    /// Returns the addresses of servers that the bench did not start, after a check that they are empty.
    ///
    /// # Errors
    /// - [`BenchError::Wrong`]: Redis holds keys, or the database holds tables.
    /// - Otherwise a server cannot be reached.
    pub async fn of_empty(redis: &str, mysql: &str) -> Result<Self, BenchError> {
        let options = ProductionOptions::new(redis, mysql);
        let Occupancy { keys, tables } =
            TemporaryMall::beside(&options, "bench").await?.occupancy(mysql).await?;
        ensure(keys == 0, || {
            format!("Redis holds {keys} keys; the bench needs an empty server: pass the URL of another one")
        })?;
        ensure(tables == 0, || {
            format!("the database of --mysql holds {tables} tables; pass an empty or a new database")
        })?;
        Ok(Self {
            redis: redis.to_owned(),
            redis_in_memory: redis.to_owned(),
            mysql: mysql.to_owned(),
            mysql_process: None,
        })
    }
}
