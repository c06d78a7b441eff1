//! Location of a test's mall: a directory, or real servers on free local ports with temporary data.
//!
//! A server ends when its value is dropped, and with the process that started it, even after a kill. A shell
//! holds the server's process and a pipe from the test process, and kills the server when the pipe closes.
//!
//! [`MallLocation`] is a location for one mall on either back end. Any number of tests share a pair of
//! servers.

mod certificates;
mod database;
mod environment;
mod ground;
mod guarded;
mod mariadb;
mod outside;
mod process;
mod proxy;
mod redis;
mod sentinel;
mod watched;

pub use certificates::certificates;
pub use database::Database;
pub use environment::without_settings;
pub use ground::MallLocation;
pub use mariadb::MariaDb;
pub use outside::{Sql, WriteLock};
pub use process::{ServerError, free_port};
pub use proxy::{Behaviour, Proxy};
pub use redis::{Redis, RedisCluster, RedisOptions};
pub use sentinel::RedisSentinel;
pub use watched::SentinelRedis;
