//! Where a test's mall is: a directory, or real servers on free ports of this machine and with throw-away data.
//!
//! A server ends with the value that stands for it, and with the process that started it, however that ends: a shell
//! holds the server's process and a pipe from ours, and kills the one when the other closes.
//!
//! [`Ground`] is room for one mall on either back end, of which as many as there are tests share a pair of servers.

mod certificates;
mod database;
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
pub use ground::Ground;
pub use mariadb::MariaDb;
pub use outside::{Busy, Sql};
pub use process::ServerError;
pub use proxy::{Line, Proxy};
pub use redis::{Redis, RedisCluster, RedisOptions};
pub use sentinel::RedisSentinel;
pub use watched::WatchedRedis;
