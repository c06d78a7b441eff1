//! Redis and MariaDB servers on free local ports with data of their own, for benches and tests.
//!
//! A server ends when its value is dropped, and with the process that started it, even after a kill. A shell
//! holds the server's process and a pipe from that process, and kills the server when the pipe closes.

mod cluster;
mod host;
mod mariadb;
mod process;
mod redis;
mod sentinel;
mod version;
mod watched;

pub use cluster::RedisCluster;
pub use host::Host;
pub use mariadb::MariaDb;
pub use process::{ServerError, free_port};
pub use redis::{Redis, RedisOptions};
pub use sentinel::RedisSentinel;
pub use version::{MARIADB, REDIS, version};
pub use watched::SentinelRedis;
