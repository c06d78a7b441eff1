//! The ways, a file each.

mod blmove;
mod channel;
mod group;
mod list;
mod order_log;
mod pub_sub;
mod stream;
mod table;

use std::sync::Arc;

use crate::error::{QueueError, broken};
use crate::queue::{Place, Queue};

/// What a way runs on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Component {
    /// The process of producer and consumer: its end is the end of the queue's process.
    Process,
    /// A Redis.
    Redis,
    /// A MySQL.
    Mysql,
    /// A Redis, and a MySQL for the orders.
    RedisAndMysql,
}

impl Component {
    /// Returns whether the way uses Redis.
    #[must_use]
    pub fn has_redis(self) -> bool {
        matches!(self, Self::Redis | Self::RedisAndMysql)
    }

    /// Returns whether the way uses MySQL.
    #[must_use]
    pub fn has_mysql(self) -> bool {
        matches!(self, Self::Mysql | Self::RedisAndMysql)
    }
}

/// A way to hand orders over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Way {
    /// Name on the command line.
    pub name: &'static str,
    /// Commands or calls of the way.
    pub about: &'static str,
    /// What it runs on.
    pub component: Component,
}

macro_rules! ways {
    ($($name:literal $component:ident $open:path, $about:literal;)*) => {
        /// The ways, in the order of the table.
        pub const WAYS: &[Way] =
            &[$(Way { name: $name, about: $about, component: Component::$component }),*];

        /// Opens the queue of a way.
        pub(crate) async fn open(way: &str, place: &Place) -> Result<Arc<dyn Queue>, QueueError> {
            match way {
                $($name => Ok(Arc::new($open(place).await?)),)*
                other => Err(broken(format!("no way is named {other}"))),
            }
        }
    };
}

ways! {
    "list" Redis list::open, "Redis list: LPUSH, BRPOP";
    "blmove" Redis blmove::open, "Redis list: LPUSH, BLMOVE to a list of the worker, LREM";
    "pub-sub" Redis pub_sub::open, "Redis channel: PUBLISH, SUBSCRIBE";
    "stream" Redis stream::open, "Redis stream without a group: XADD, XREAD with $";
    "group" Redis group::open, "Redis stream with a group: XADD, XREADGROUP, XACK, XAUTOCLAIM";
    "noack" Redis group::open_without_ack, "Redis stream with a group: XADD, XREADGROUP NOACK";
    "channel" Process channel::open, "bounded channel in memory, as the tutorial's BlockingQueue";
    "sled-log" Process order_log::open_in_directory, "mallbox' order log in a directory (sled), orders in SQLite";
    "redis-log" RedisAndMysql order_log::open_on_servers, "mallbox' order log in Redis (stream), orders in MySQL";
    "table" Mysql table::open, "table in MySQL: INSERT, SELECT … FOR UPDATE SKIP LOCKED";
}

/// Returns the way with this name.
#[must_use]
pub fn way(name: &str) -> Option<&'static Way> {
    WAYS.iter().find(|way| way.name == name)
}
