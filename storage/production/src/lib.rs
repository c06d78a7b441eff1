//! The production back end: Redis for fast shared state, MySQL as the database.
//!
//! Any number of processes share both servers. The memory of a process never holds the authoritative copy of
//! anything.

mod breaker;
mod epochs;
mod holders;
pub mod mysql;
pub mod redis;
mod sign_rows;
mod trial;
mod upkeep;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mallbox_storage::{OpenError, Storage};

pub use epochs::{EpochRows, EpochScope, ServerEpoch};
pub use holders::{Holder, Holders};
pub use sign_rows::{BITMAP_USERS_MAX, SignRows};
pub use trial::{BenchMall, ServerStats};

use self::mysql::MysqlPorts;
use self::redis::{DatabaseForRedis, RedisOptions, RedisPorts};
use self::upkeep::ProductionUpkeep;

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
    let record = mysql::connect_within(&options.mysql, options.connection_wait).await?;
    let known = DatabaseForRedis {
        epochs: Arc::clone(&record.epochs),
        holders: Arc::clone(&record.holders),
        orders: Arc::clone(&record.orders),
        shops: Arc::clone(&record.shops),
        sign_rows: Arc::clone(&record.sign_rows),
        feed_rows: Arc::clone(&record.feed_rows),
    };
    let fast = redis::connect(&options.redis, known).await?;
    let RedisPorts {
        sales,
        order_log,
        deadlines,
        sessions,
        rate_limits,
        cache,
        locks,
        sign_ins,
        visitors,
        geo_index,
        feeds,
        upkeep: redis,
    } = fast;
    let MysqlPorts {
        users,
        follows,
        comments,
        likes,
        notes,
        reports,
        shops,
        vouchers,
        orders,
        ledger,
        outbox,
        dead_letters,
        payments,
        pictures,
        audit,
        import,
        sequences,
        ..
    } = record;
    Ok(Storage {
        sales,
        order_log,
        deadlines,
        sequences,
        sessions,
        rate_limits,
        cache,
        locks,
        users,
        follows,
        comments,
        feeds,
        likes,
        notes,
        reports,
        shops,
        geo_index,
        vouchers,
        orders,
        ledger,
        outbox,
        dead_letters,
        payments,
        pictures,
        sign_ins,
        visitors,
        audit,
        import,
        upkeep: Arc::new(ProductionUpkeep { redis, mysql: record.upkeep }),
    })
}
