//! The ports of the catalogue: MySQL, and in Redis the index of shops.

use std::sync::Arc;

use mallbox_storage::CataloguePorts;

use crate::mysql::MysqlPorts;
use crate::redis::RedisPorts;

/// Bundles the ports of both servers.
pub(crate) fn ports(mysql: &MysqlPorts, redis: &RedisPorts) -> CataloguePorts {
    CataloguePorts {
        shops: Arc::clone(&mysql.shops),
        geo_index: Arc::clone(&redis.geo_index),
        vouchers: Arc::clone(&mysql.vouchers),
        waves: Arc::clone(&mysql.waves),
    }
}
