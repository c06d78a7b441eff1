//! Malls on Redis and MySQL (MariaDB): all cases share the servers, and each case has keys and a database of
//! its own.

use std::ops::Deref;
use std::sync::Arc;

use mallbox_storage::Storage;
use mallbox_storage_contract::world;
pub use mallbox_storage_contract::world::{HOUR, NOON, TOKEN, WORKER, claim};
use mallbox_storage_production::mysql::{self, MysqlPorts};
use mallbox_storage_production::redis::RedisOptions;
use mallbox_storage_production::{ProductionOptions, open};
use mallbox_test_servers::{Database, MallLocation};

/// A world of the contract, with access to its servers.
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

/// A mall on one Redis and one MariaDB, over TLS and with passwords.
pub async fn single() -> World {
    World::on(MallLocation::on_guarded_servers()).await
}

/// A mall on one Redis and one MariaDB without TLS and passwords, for cases with a proxy in between.
pub async fn plain() -> World {
    World::on(MallLocation::on_servers()).await
}

/// A mall on a cluster of three masters, configured with the address of one node.
pub async fn cluster() -> World {
    World::on(MallLocation::on_cluster()).await
}

/// A mall on the given Redis.
pub async fn fresh(redis: String) -> World {
    World::on(MallLocation::on_redis(redis)).await
}

/// Connects the ports of the given database.
pub async fn record(url: &str) -> MysqlPorts {
    mysql::connect(url).await.unwrap()
}

impl World {
    async fn on(ground: MallLocation) -> Self {
        let ground = Arc::new(ground);
        Self { world: world::World::on(Box::new(Arc::clone(&ground))).await, ground }
    }

    /// Addresses of the mall's servers.
    pub fn production(&self) -> &ProductionOptions {
        self.ground.production().expect("a mall on servers")
    }

    /// The mall's database.
    pub fn database(&self) -> &Database {
        self.ground.database().expect("a mall on servers")
    }

    /// Opens the mall on another Redis, with its database unchanged.
    pub async fn on_redis_at(&self, url: String) -> Storage {
        let options = self.production();
        let redis = RedisOptions { url, ..options.redis.clone() };
        open(&ProductionOptions { redis, ..options.clone() }).await.unwrap()
    }

    /// Opens the mall as another instance would, over connections of its own.
    pub async fn other_instance(&self) -> Storage {
        self.ground.open().await
    }
}
