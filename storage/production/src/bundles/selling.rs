//! The ports of selling: stock, order log and deadlines in Redis, the rest in MySQL.

use std::sync::Arc;

use mallbox_storage::SellingPorts;

use crate::mysql::MysqlPorts;
use crate::redis::RedisPorts;

/// Bundles the ports of both servers.
pub(crate) fn ports(mysql: &MysqlPorts, redis: &RedisPorts) -> SellingPorts {
    SellingPorts {
        sales: Arc::clone(&redis.sales),
        order_log: Arc::clone(&redis.order_log),
        deadlines: Arc::clone(&redis.deadlines),
        orders: Arc::clone(&mysql.orders),
        outbox: Arc::clone(&mysql.outbox),
        dead_letters: Arc::clone(&mysql.dead_letters),
        payments: Arc::clone(&mysql.payments),
        cash: Arc::clone(&mysql.cash),
        waiting_lists: Arc::clone(&mysql.waiting_lists),
        waiting_rooms: Arc::clone(&redis.waiting_rooms),
        attempts: Arc::clone(&mysql.attempts),
        claim_gateways: Arc::clone(&mysql.claim_gateways),
        claim_batches: Arc::clone(&mysql.claim_batches),
    }
}
