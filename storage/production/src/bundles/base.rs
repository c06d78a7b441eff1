//! The ports below every area: Redis, and for sequences and the retry queue MySQL.

use std::sync::Arc;

use mallbox_storage::BasePorts;

use crate::mysql::MysqlPorts;
use crate::redis::RedisPorts;
use crate::upkeep::ProductionUpkeep;

/// Bundles the ports of both servers. Consumes the servers' handles: upkeep closes the servers.
pub(crate) fn ports(mysql: MysqlPorts, redis: RedisPorts) -> BasePorts {
    BasePorts {
        cache: redis.cache,
        locks: redis.locks,
        rate_limits: redis.rate_limits,
        retry_tasks: mysql.retry_tasks,
        sequences: mysql.sequences,
        events: mysql.events,
        event_subscribers: mysql.event_subscribers,
        event_streams: redis.event_streams,
        upkeep: Arc::new(ProductionUpkeep { redis: redis.upkeep, mysql: mysql.upkeep }),
    }
}
