//! The production back end: Redis for what is fast and shared, MySQL for the record.
//!
//! Any number of processes share both. Nothing that one of them holds in memory is the truth about anything.

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

pub use epochs::{EpochRows, EpochScope, ServerEpoch};
pub use holders::{Holder, Holders};
pub use sign_rows::{FAR, SignRows};
pub use trial::{ServerFigures, Trial};

use self::mysql::MysqlPorts;
use self::redis::{RecordForRedis, RedisOptions, RedisPorts};
use self::upkeep::ProductionUpkeep;
use crate::{OpenError, Storage};

/// Where the servers of a mall are.
#[derive(Clone)]
pub struct ProductionOptions {
    /// Redis.
    pub redis: RedisOptions,
    /// MySQL's URL, `mysql://[user[:password]@]host[:port]/database`. May hold a password. With `?require_ssl=true` the
    /// server's certificate is checked, by the well-known authorities or by `&ca=FILE` alone; `pool_max=N` sets the
    /// number of connections.
    pub mysql: String,
    /// How long opening waits for a free connection of MySQL; without a limit if `None`.
    pub connection_wait: Option<Duration>,
}

impl ProductionOptions {
    /// With keys in Redis that begin with `mallbox`, and no limit on waiting.
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

/// Connects to both. The record first: a Redis that does not know a sale asks it who holds units.
pub(crate) async fn open(options: &ProductionOptions) -> Result<Storage, OpenError> {
    let record = mysql::connect_within(&options.mysql, options.connection_wait).await?;
    let known = RecordForRedis {
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
