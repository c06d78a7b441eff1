//! The servers of the ladder, and the tables and keys of a sale.

use std::path::Path;

use mallbox_bench_servers::{Host, MariaDb, Redis, RedisOptions, ServerError};
use mysql_async::prelude::Queryable as _;
use mysql_async::{Conn, Opts};

use crate::error::LadderError;
use crate::rungs::stock_buckets::BUCKETS;

/// Database of the bench.
const DATABASE: &str = "ladder";
/// Flags of MariaDB: every commit flushed; and repeatable read as in MySQL, where a transaction may change a
/// row that another one changed after its snapshot.
const MARIADB: [&str; 2] = ["--innodb-flush-log-at-trx-commit=1", "--loose-innodb-snapshot-isolation=OFF"];

/// Tables of a sale. Without unique keys where the tutorials have none.
const TABLES: [&str; 8] = [
    "CREATE TABLE vouchers (id INT PRIMARY KEY, stock BIGINT NOT NULL, version BIGINT NOT NULL)",
    "CREATE TABLE orders (id BIGINT PRIMARY KEY AUTO_INCREMENT, user BIGINT NOT NULL, KEY (user))",
    "CREATE TABLE buckets (id INT PRIMARY KEY, stock BIGINT NOT NULL)",
    "CREATE TABLE buyers (user BIGINT PRIMARY KEY)",
    "CREATE TABLE user_locks (user BIGINT PRIMARY KEY)",
    "CREATE TABLE fences (user BIGINT PRIMARY KEY, token BIGINT NOT NULL)",
    "CREATE TABLE messages (id BIGINT PRIMARY KEY AUTO_INCREMENT, user BIGINT NOT NULL, \
     state TINYINT NOT NULL DEFAULT 0, attempts INT NOT NULL DEFAULT 0, sent_at DATETIME(3), KEY (state, id))",
    "CREATE TABLE done_messages (id BIGINT PRIMARY KEY)",
];
const NAMES: [&str; 8] =
    ["vouchers", "orders", "buckets", "buyers", "user_locks", "fences", "messages", "done_messages"];

/// The servers of a run.
#[derive(Debug)]
pub struct Location {
    redis: String,
    mysql: String,
    /// `None` = servers of the user: no failover, and no further server.
    own: Option<OwnServers>,
}

/// Servers started for the run, gone with the value.
#[derive(Debug)]
struct OwnServers {
    host: Host,
    _redis: Redis,
    mariadb: MariaDb,
}

impl Location {
    /// Starts a Redis with `appendfsync everysec` and a MariaDB that flushes every commit, with their data
    /// below `dir`, and creates the tables.
    ///
    /// # Errors
    /// [`LadderError::Server`]: a program is not installed, or does not start.
    pub async fn start(dir: &Path) -> Result<Self, LadderError> {
        let host = Host::beside_clients(dir);
        let redis = start_redis(&host)?;
        let mariadb = MariaDb::start_on(host.clone(), &MARIADB)?;
        let mut connection = Conn::new(Opts::from_url(&mariadb.url("mysql"))?).await?;
        connection.query_drop(format!("CREATE DATABASE {DATABASE}")).await?;
        connection.disconnect().await?;
        let (redis_url, mysql) = (redis.url(), mariadb.url(DATABASE));
        let own = OwnServers { host, _redis: redis, mariadb };
        let location = Self { redis: redis_url, mysql, own: Some(own) };
        location.create_tables().await?;
        Ok(location)
    }

    /// Uses servers of the user, both empty, and creates the tables. [`clear`](Self::clear) removes
    /// everything.
    ///
    /// # Errors
    /// [`LadderError::Mysql`]: the database cannot be used.
    pub async fn given(redis: &str, mysql: &str) -> Result<Self, LadderError> {
        let location = Self { redis: redis.to_owned(), mysql: mysql.to_owned(), own: None };
        location.create_tables().await?;
        Ok(location)
    }

    /// Drops the tables and the keys.
    ///
    /// # Errors
    /// [`LadderError`]: a server cannot be reached; its data stays.
    pub async fn clear(&self) -> Result<(), LadderError> {
        let mut connection = self.connect().await?;
        for table in NAMES {
            connection.query_drop(format!("DROP TABLE {table}")).await?;
        }
        connection.disconnect().await?;
        let mut redis = redis::Client::open(self.redis.as_str())?.get_multiplexed_async_connection().await?;
        Ok(redis::cmd("FLUSHDB").query_async(&mut redis).await?)
    }

    /// Whether the bench started the servers: only then can Redis fail over, and only then are there further
    /// ones.
    #[must_use]
    pub fn is_own(&self) -> bool {
        self.own.is_some()
    }

    /// Returns the address of the Redis that all runs without a failover use.
    #[must_use]
    pub fn redis(&self) -> String {
        self.redis.clone()
    }

    /// Returns the address of the database.
    #[must_use]
    pub fn mysql(&self) -> String {
        self.mysql.clone()
    }

    /// Suspends the database: connections stay open without responses.
    ///
    /// # Errors
    /// [`LadderError`]: the bench did not start the database.
    pub fn pause_database(&self) -> Result<(), LadderError> {
        Ok(self.own()?.mariadb.pause()?)
    }

    /// Resumes the suspended database.
    ///
    /// # Errors
    /// [`LadderError`]: the bench did not start the database.
    pub fn resume_database(&self) -> Result<(), LadderError> {
        Ok(self.own()?.mariadb.resume()?)
    }

    fn own(&self) -> Result<&OwnServers, LadderError> {
        let foreign = || LadderError::NotReached("this run needs servers of its own".to_owned());
        self.own.as_ref().ok_or_else(foreign)
    }

    /// Starts a further Redis.
    pub(crate) fn further_redis(&self) -> Result<Redis, LadderError> {
        Ok(start_redis(&self.own()?.host)?)
    }

    async fn create_tables(&self) -> Result<(), LadderError> {
        let mut connection = self.connect().await?;
        for table in TABLES {
            connection.query_drop(table).await?;
        }
        Ok(connection.disconnect().await?)
    }

    /// Opens an empty sale of `units` units, in the database and in the Redis at `redis`.
    pub(crate) async fn open_sale(&self, redis: &str, units: u64) -> Result<(), LadderError> {
        let mut connection = self.connect().await?;
        connection.query_drop("BEGIN").await?;
        for table in NAMES {
            connection.query_drop(format!("DELETE FROM {table}")).await?;
        }
        connection.query_drop(format!("INSERT INTO vouchers VALUES (1, {units}, 0)")).await?;
        let buckets = u64::try_from(BUCKETS).unwrap_or(1);
        for bucket in 0..buckets {
            let share = units / buckets + u64::from(bucket < units % buckets);
            connection.query_drop(format!("INSERT INTO buckets VALUES ({bucket}, {share})")).await?;
        }
        connection.query_drop("COMMIT").await?;
        connection.disconnect().await?;
        let mut redis = redis::Client::open(redis)?.get_multiplexed_async_connection().await?;
        let _: () = redis::cmd("FLUSHDB").query_async(&mut redis).await?;
        Ok(redis::cmd("SET").arg("stock").arg(units).query_async(&mut redis).await?)
    }

    /// Adds units to a sale whose stock is in the database.
    pub(crate) async fn add_units(&self, units: u64) -> Result<(), LadderError> {
        let mut connection = self.connect().await?;
        connection.query_drop(format!("UPDATE vouchers SET stock = stock + {units}")).await?;
        Ok(connection.disconnect().await?)
    }

    /// Returns the owners of all orders, in the order of their ids.
    pub(crate) async fn orders(&self) -> Result<Vec<u64>, LadderError> {
        let mut connection = self.connect().await?;
        let owners = connection.query("SELECT user FROM orders ORDER BY id").await?;
        connection.disconnect().await?;
        Ok(owners)
    }

    async fn connect(&self) -> Result<Conn, LadderError> {
        Ok(Conn::new(Opts::from_url(&self.mysql)?).await?)
    }
}

fn start_redis(host: &Host) -> Result<Redis, ServerError> {
    let options = RedisOptions::default()
        .with("appendonly", "yes")
        .with("appendfsync", "everysec")
        // A replica is wanted at once.
        .with("repl-diskless-sync-delay", "0");
    Redis::start_with(options.on(host.clone()))
}
