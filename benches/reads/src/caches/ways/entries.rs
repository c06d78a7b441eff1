//! Entries and their locks in Redis.

use std::ops::RangeInclusive;
use std::time::Duration;

use mallbox_bench_ports::BenchError;
use redis::{Cmd, Pipeline, cmd};

use crate::Servers;

/// Begin of the keys, all of one slot.
const PREFIX: &str = "{bench}:shop:";
/// Time to live of an entry, as in the tutorials.
pub(super) const TTL: Duration = Duration::from_secs(30 * 60);
/// Lease of a lock: as short as an experiment allows.
const LOCK_LEASE: Duration = Duration::from_secs(2);

/// All entries.
pub(super) struct Entries {
    servers: Servers,
}

impl Entries {
    /// Begins without any entry.
    pub(super) async fn create(servers: &Servers) -> Result<Self, BenchError> {
        servers.remove_keys(PREFIX).await?;
        Ok(Self { servers: servers.clone() })
    }

    /// Returns the text of an entry.
    pub(super) async fn get(&self, shop: u64) -> Result<Option<String>, BenchError> {
        self.servers.redis.query(cmd("GET").arg(key(shop))).await
    }

    /// Stores an entry; `ttl` of `None` = for ever.
    pub(super) async fn set(&self, shop: u64, text: &str, ttl: Option<Duration>) -> Result<(), BenchError> {
        self.servers.redis.query(&set(shop, text, ttl)).await
    }

    /// Stores entries together: shop, text, time to live.
    pub(super) async fn set_all(
        &self,
        entries: &[(u64, String, Option<Duration>)],
    ) -> Result<(), BenchError> {
        let mut pipeline = Pipeline::new();
        for (shop, text, ttl) in entries {
            pipeline.add_command(set(*shop, text, *ttl)).ignore();
        }
        self.servers.redis.pipeline(&pipeline).await
    }

    pub(super) async fn delete(&self, shop: u64) -> Result<(), BenchError> {
        self.servers.redis.query(cmd("DEL").arg(key(shop))).await
    }

    /// Lets an entry expire now.
    pub(super) async fn expire(&self, shop: u64) -> Result<(), BenchError> {
        self.servers.redis.query::<bool>(cmd("PEXPIRE").arg(key(shop)).arg(1)).await?;
        tokio::time::sleep(Duration::from_millis(5)).await;
        Ok(())
    }

    /// Returns the times to live that are left.
    pub(super) async fn lifetimes(&self, shops: RangeInclusive<u64>) -> Result<Vec<Duration>, BenchError> {
        let mut pipeline = Pipeline::new();
        for shop in shops {
            pipeline.cmd("PTTL").arg(key(shop));
        }
        let left: Vec<i64> = self.servers.redis.pipeline(&pipeline).await?;
        Ok(left.into_iter().map(|ms| Duration::from_millis(ms.max(0).unsigned_abs())).collect())
    }

    /// Takes the lock of an entry. Returns whether it was free.
    pub(super) async fn lock(&self, shop: u64) -> Result<bool, BenchError> {
        let mut lock = cmd("SET");
        lock.arg(lock_key(shop)).arg(1).arg("NX").arg("PX").arg(millis(LOCK_LEASE));
        Ok(self.servers.redis.query::<Option<String>>(&lock).await?.is_some())
    }

    pub(super) async fn unlock(&self, shop: u64) -> Result<(), BenchError> {
        self.servers.redis.query(cmd("DEL").arg(lock_key(shop))).await
    }

    pub(super) async fn is_locked(&self, shop: u64) -> Result<bool, BenchError> {
        self.servers.redis.query(cmd("EXISTS").arg(lock_key(shop))).await
    }

    pub(super) async fn remove(&self) -> Result<(), BenchError> {
        self.servers.remove_keys(PREFIX).await
    }
}

fn set(shop: u64, text: &str, ttl: Option<Duration>) -> Cmd {
    let mut set = cmd("SET");
    set.arg(key(shop)).arg(text);
    if let Some(ttl) = ttl {
        set.arg("PX").arg(millis(ttl));
    }
    set
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn key(shop: u64) -> String {
    format!("{PREFIX}{shop}")
}

fn lock_key(shop: u64) -> String {
    format!("{PREFIX}lock:{shop}")
}
