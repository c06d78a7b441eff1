//! [`Upkeep`] of both servers together.

use async_trait::async_trait;

use super::mysql::MysqlUpkeep;
use super::redis::{RedisDurability, RedisUpkeep};
use crate::{Durability, Health, StoreError, Timestamp, Upkeep};

pub(super) struct ProductionUpkeep {
    pub(super) redis: RedisUpkeep,
    pub(super) mysql: MysqlUpkeep,
}

#[async_trait]
impl Upkeep for ProductionUpkeep {
    async fn health(&self) -> Health {
        let (redis, mysql) = tokio::join!(self.redis.health(), self.mysql.trouble());
        let of_redis = match redis.durability {
            Some(RedisDurability::Always) => Durability::Power,
            Some(RedisDurability::EverySecond | RedisDurability::System | RedisDurability::Unknown)
            | None => Durability::Relaxed,
            Some(RedisDurability::Memory) => Durability::Process,
        };
        let durability = if of_redis == Durability::Power { self.mysql.durability() } else { of_redis };
        let troubles = redis.troubles.into_iter().chain(mysql).collect();
        Health { backend: "production", durability, troubles }
    }

    /// Redis frees what has expired by itself.
    async fn sweep(&self, _now: Timestamp) -> Result<(), StoreError> {
        Ok(())
    }

    async fn setting(&self, name: &str) -> Result<Option<String>, StoreError> {
        self.mysql.setting(name).await
    }

    async fn put_setting(&self, name: &str, value: &str) -> Result<(), StoreError> {
        self.mysql.put_setting(name, value).await
    }

    async fn close(&self) -> Result<(), StoreError> {
        self.mysql.close().await
    }
}
