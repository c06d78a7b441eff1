//! Location of a test's mall: a directory, or real servers on free local ports with temporary data.
//!
//! The servers are those of `mallbox-bench-servers`: they end with their value, or with the test.
//!
//! [`MallLocation`] is a location for one mall on either back end. Any number of tests share a pair of
//! servers.

mod certificates;
mod database;
mod environment;
mod ground;
mod guarded;
mod outside;
mod proxy;

pub use certificates::certificates;
pub use database::Database;
pub use environment::without_settings;
pub use ground::MallLocation;
pub use mallbox_bench_servers::{
    Host, MariaDb, Redis, RedisCluster, RedisOptions, RedisSentinel, SentinelRedis, ServerError, free_port,
};
pub use outside::{Sql, WriteLock};
pub use proxy::{Behaviour, Proxy};
