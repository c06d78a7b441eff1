//! Malls on Redis and MySQL (MariaDB): servers that all cases share, and on them keys and a database of each
//! case's own.

use std::ops::Deref;
use std::sync::Arc;

use mallbox_storage::Storage;
use mallbox_storage_contract::world;
pub use mallbox_storage_contract::world::{HOUR, NOON, WORKER, claim};
use mallbox_storage_production::mysql::{self, MysqlPorts};
use mallbox_storage_production::redis::RedisOptions;
use mallbox_storage_production::{ProductionOptions, open};
use mallbox_test_servers::{Database, MallLocation};

/// A world of the contract whose servers are known.
pub struct World {
    world: world::World,
    ground: Arc<MallLocation>,
}

impl Deref for World {
    type Target = world::World;

    fn deref(&self) -> &world::World {
        &self.world
    }
}

/// On one Redis and one MariaDB, over TLS and with passwords.
pub async fn single() -> World {
    World::on(MallLocation::on_guarded_servers()).await
}

/// On one Redis and one MariaDB without either, for cases that stand between mall and server.
pub async fn plain() -> World {
    World::on(MallLocation::on_servers()).await
}

/// On a cluster of three masters, of which the mall is told one node.
pub async fn cluster() -> World {
    World::on(MallLocation::on_cluster()).await
}

/// On this Redis.
pub async fn fresh(redis: String) -> World {
    World::on(MallLocation::on_redis(redis)).await
}

/// The ports of this record.
pub async fn record(url: &str) -> MysqlPorts {
    mysql::connect(url).await.unwrap()
}

impl World {
    async fn on(ground: MallLocation) -> Self {
        let ground = Arc::new(ground);
        Self { world: world::World::on(Box::new(Arc::clone(&ground))).await, ground }
    }

    /// Where its servers are.
    pub fn production(&self) -> &ProductionOptions {
        self.ground.production().expect("a mall on servers")
    }

    /// Where its record is.
    pub fn database(&self) -> &Database {
        self.ground.database().expect("a mall on servers")
    }

    /// The same mall on another Redis.
    pub async fn on_redis_at(&self, url: String) -> Storage {
        let options = self.production();
        let redis = RedisOptions { url, ..options.redis.clone() };
        open(&ProductionOptions { redis, ..options.clone() }).await.unwrap()
    }

    /// The same mall as another instance sees it: over connections of its own.
    pub async fn other_instance(&self) -> Storage {
        self.ground.open().await
    }
}
