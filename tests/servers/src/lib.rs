//! Real servers for tests, on free ports of this machine and with throw-away data.
//!
//! A server ends with the value that stands for it, and with the process that started it, however that ends: a shell
//! holds the server's process and a pipe from ours, and kills the one when the other closes.

mod certificates;
mod mariadb;
mod process;
mod redis;
mod sentinel;

pub use certificates::certificates;
pub use mariadb::MariaDb;
pub use process::ServerError;
pub use redis::{Redis, RedisCluster, RedisOptions};
pub use sentinel::RedisSentinel;
