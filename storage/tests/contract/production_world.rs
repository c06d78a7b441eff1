//! Back ends in Redis and MySQL (MariaDB): servers that all cases share, and in them a mall of each case's own.

use mallbox_storage::production::ProductionOptions;
use mallbox_storage::production::mysql::{self, MysqlPorts};
use mallbox_storage::production::redis::RedisOptions;
use mallbox_storage::{Place, Storage};
use mallbox_test_servers::{Database, Ground};

use crate::world::{World, opened};

/// On one Redis and one MariaDB, over TLS and with passwords.
pub async fn single() -> World {
    World::on(Ground::on_guarded_servers()).await
}

/// On one Redis and one MariaDB without either, for cases that stand between mall and server.
pub async fn plain() -> World {
    World::on(Ground::on_servers()).await
}

/// On a cluster of three masters, of which the mall is told one node.
pub async fn cluster() -> World {
    World::on(Ground::on_cluster()).await
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

    /// The same mall on another Redis.
    pub async fn on_redis_at(&self, url: String) -> Storage {
        let options = self.production();
        let redis = RedisOptions { url, ..options.redis.clone() };
        opened(&Place::Production(ProductionOptions { redis, ..options.clone() })).await
    }

    /// The same mall as another instance sees it: over connections of its own.
    pub async fn other_instance(&self) -> Storage {
        opened(self.place()).await
    }
}
