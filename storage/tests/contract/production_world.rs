//! Back ends in Redis and MySQL (MariaDB): servers that all cases share, and in them a mall of each case's own.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use mallbox_storage::production::ProductionOptions;
use mallbox_storage::production::redis::RedisOptions;
use mallbox_storage::{Place, Storage};
use mallbox_test_servers::{Redis, RedisCluster};

use crate::case_database::CaseDatabase;
use crate::world::World;

/// On one Redis. It ends with the process.
pub async fn single() -> World {
    static SERVER: OnceLock<Redis> = OnceLock::new();
    let url = tokio::task::spawn_blocking(|| SERVER.get_or_init(|| Redis::start().unwrap()).url());
    fresh(url.await.unwrap()).await
}

/// On a cluster of three masters, of which the mall is told one node.
pub async fn cluster() -> World {
    static SERVERS: OnceLock<RedisCluster> = OnceLock::new();
    let urls = tokio::task::spawn_blocking(|| SERVERS.get_or_init(|| RedisCluster::start(3).unwrap()).urls());
    fresh(urls.await.unwrap()[1].clone()).await
}

/// On this Redis.
pub async fn fresh(redis: String) -> World {
    let database = CaseDatabase::new().await;
    let options = ProductionOptions { redis: redis_options(redis), mysql: database.url().to_owned() };
    World::on_servers(options, database).await
}

/// With a prefix that no other case has.
pub fn redis_options(url: String) -> RedisOptions {
    static CASES: AtomicU64 = AtomicU64::new(0);
    let prefix = format!("case-{}", CASES.fetch_add(1, Ordering::Relaxed));
    RedisOptions { prefix, ..RedisOptions::new(url) }
}

impl World {
    /// Where its servers are.
    pub fn production(&self) -> &ProductionOptions {
        let Place::Production(options) = self.place() else { panic!("an embedded world") };
        options
    }

    /// The same mall as another instance sees it: over connections of its own.
    pub async fn other_instance(&self) -> Storage {
        Storage::open(self.place()).await.unwrap()
    }
}
