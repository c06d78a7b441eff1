//! The production back end: Redis for what is fast and shared, MySQL for the record.
//!
//! Any number of processes share both. Nothing that one of them holds in memory is the truth about anything.

mod holders;
pub mod mysql;

use std::fmt;

pub use holders::{Holder, Holders};

/// Where the servers of a mall are.
#[derive(Clone)]
pub struct ProductionOptions {
    /// Redis' URL. May hold a password.
    pub redis: String,
    /// MySQL's URL, `mysql://[user[:password]@]host[:port]/database`. May hold a password. With `?require_ssl=true` the
    /// server's certificate is checked, by the well-known authorities or by `&ca=FILE` alone; `pool_max=N` sets the
    /// number of connections.
    pub mysql: String,
    /// What every Redis key begins with: malls of different prefixes share a Redis and nothing else.
    pub prefix: String,
}

impl ProductionOptions {
    /// With the prefix `mallbox`.
    #[must_use]
    pub fn new(redis: impl Into<String>, mysql: impl Into<String>) -> Self {
        Self { redis: redis.into(), mysql: mysql.into(), prefix: "mallbox".to_owned() }
    }
}

impl fmt::Debug for ProductionOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProductionOptions").field("prefix", &self.prefix).finish_non_exhaustive()
    }
}
