//! The [`Upkeep`] port over both servers.

use async_trait::async_trait;
use mallbox_storage::{Durability, Health, PartHealth, StoreError, Timestamp, Upkeep};

use super::mysql::MysqlUpkeep;
use super::redis::RedisUpkeep;

pub(super) struct ProductionUpkeep {
    pub(super) redis: RedisUpkeep,
    pub(super) mysql: MysqlUpkeep,
}

#[async_trait]
impl Upkeep for ProductionUpkeep {
    async fn health(&self) -> Health {
        let (redis, trouble) = tokio::join!(self.redis.health(), self.mysql.trouble());
        let trouble = trouble.map(|trouble| format!("MySQL at {}: {trouble}", self.mysql.address()));
        // An unreachable server promises no durability.
        let of_redis = redis.durability.map_or(Durability::Memory, Durability::from);
        let of_mysql = self.mysql.durability();
        let parts = vec![
            PartHealth {
                name: "Redis",
                address: Some(self.redis.address()),
                durability: Some(redis.durability.map_or("unknown", |durability| durability.name())),
                troubles: redis.troubles,
                warnings: Vec::new(),
                circuits: self.redis.circuits(),
            },
            PartHealth {
                name: "MySQL",
                address: Some(self.mysql.address()),
                durability: Some(of_mysql.name()),
                troubles: trouble.into_iter().collect(),
                warnings: Vec::new(),
                circuits: vec![self.mysql.circuit()],
            },
        ];
        Health {
            backend: "production",
            durability: of_redis.min(of_mysql),
            parts,
            pages: None,
            clock: redis.clock,
            recovery: None,
        }
    }

    /// Does nothing: Redis removes expired keys automatically.
    async fn sweep(&self, _now: Timestamp) -> Result<(), StoreError> {
        Ok(())
    }

    async fn setting(&self, name: &str) -> Result<Option<String>, StoreError> {
        self.mysql.setting(name).await
    }

    async fn put_setting(&self, name: &str, value: &str) -> Result<(), StoreError> {
        self.mysql.put_setting(name, value).await
    }

    async fn keep_setting(&self, name: &str, value: &str) -> Result<String, StoreError> {
        self.mysql.keep_setting(name, value).await
    }

    async fn close(&self) -> Result<(), StoreError> {
        self.redis.leave().await;
        self.mysql.close().await
    }
}
