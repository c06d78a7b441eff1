//! Back ends in Redis and MySQL (MariaDB): servers that all cases share, and in them a mall of each case's own.

use std::sync::OnceLock;

use mallbox_storage::production::ProductionOptions;
use mallbox_storage::production::mysql::{self, MysqlPorts};
use mallbox_storage::{Place, Storage};
use mallbox_test_servers::{Database, Ground, RedisCluster};

use crate::world::World;

/// On one Redis.
pub async fn single() -> World {
    World::on(Ground::on_servers()).await
}

/// On a cluster of three masters, of which the mall is told one node.
pub async fn cluster() -> World {
    static SERVERS: OnceLock<RedisCluster> = OnceLock::new();
    let urls = SERVERS.get_or_init(|| RedisCluster::start(3).unwrap()).urls();
    fresh(urls[1].clone()).await
}

/// On this Redis.
pub async fn fresh(redis: String) -> World {
    World::on(Ground::on_redis(redis)).await
}

/// The ports of this record.
pub async fn record(url: &str) -> MysqlPorts {
    mysql::connect(url).await.unwrap()
}

impl World {
    /// Where its servers are.
    pub fn production(&self) -> &ProductionOptions {
        let Place::Production(options) = self.place() else { panic!("an embedded world") };
        options
    }

    /// Where its record is.
    pub fn database(&self) -> &Database {
        self.ground().database().expect("an embedded world")
    }

    /// The same mall as another instance sees it: over connections of its own.
    pub async fn other_instance(&self) -> Storage {
        Storage::open(self.place()).await.unwrap()
    }
}
