//! The production back end: Redis for fast shared state, MySQL as the database.
//!
//! Any number of processes share both servers. The memory of a process never holds the authoritative copy of
//! anything.

pub mod backup;
mod breaker;
mod bundles;
mod copy_error;
mod epochs;
pub mod foreign;
mod holders;
mod inspection;
pub mod mysql;
mod random;
pub mod redis;
mod sign_rows;
mod spans;
mod temporary_mall;
mod upkeep;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mallbox_storage::{OpenError, Storage};

pub use epochs::{EpochRows, EpochScope, ServerEpoch};
pub use holders::{Holder, Holders};
pub use inspection::{ClockReading, ConnectFailure, Inspection, Now, Support, inspect};
pub use sign_rows::{BITMAP_USERS_MAX, SignRows};
pub use temporary_mall::{Occupancy, ServerStats, TemporaryMall};

use self::redis::{DatabaseForRedis, RedisOptions};

/// Addresses of a mall's servers.
#[derive(Clone)]
pub struct ProductionOptions {
    /// Address and settings of Redis.
    pub redis: RedisOptions,
    /// URL of MySQL, `mysql://[user[:password]@]host[:port]/database`. May contain a password.
    /// `?require_ssl=true` makes the client check the server's certificate, by the well-known authorities or
    /// only by `&ca=FILE`. `pool_max=N` sets the number of connections.
    pub mysql: String,
    /// Time limit for getting a connection to MySQL while opening; `None` waits without a limit.
    pub connection_wait: Option<Duration>,
}

impl ProductionOptions {
    /// Creates options with the Redis key prefix `mallbox`, and without a limit on waiting.
    #[must_use]
    pub fn new(redis: impl Into<String>, mysql: impl Into<String>) -> Self {
        Self { redis: RedisOptions::new(redis), mysql: mysql.into(), connection_wait: None }
    }
}

impl fmt::Debug for ProductionOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProductionOptions").field("redis", &self.redis).finish_non_exhaustive()
    }
}

/// Connects to both servers. MySQL comes first, because a Redis that does not know a sale reads the holders
/// from MySQL.
pub async fn open(options: &ProductionOptions) -> Result<Storage, OpenError> {
    let mysql = mysql::connect_within(&options.mysql, options.connection_wait).await?;
    let known = DatabaseForRedis {
        epochs: Arc::clone(&mysql.epochs),
        holders: Arc::clone(&mysql.holders),
        orders: Arc::clone(&mysql.orders),
        shops: Arc::clone(&mysql.shops),
        sign_rows: Arc::clone(&mysql.sign_rows),
        feed_rows: Arc::clone(&mysql.feed_rows),
    };
    let redis = redis::connect(&options.redis, known).await?;
    Ok(Storage {
        selling: bundles::selling::ports(&mysql, &redis),
        catalogue: bundles::catalogue::ports(&mysql, &redis),
        people: bundles::people::ports(&mysql, &redis),
        writing: bundles::writing::ports(&mysql, &redis),
        operator: bundles::operator::ports(&mysql),
        base: bundles::base::ports(mysql, redis),
    })
}
