//! The ports of people: accounts and follows in MySQL, codes, sessions, sign-ins and visits in Redis.

use std::sync::Arc;

use mallbox_storage::PeoplePorts;

use crate::mysql::MysqlPorts;
use crate::redis::RedisPorts;

/// Bundles the ports of both servers.
pub(crate) fn ports(mysql: &MysqlPorts, redis: &RedisPorts) -> PeoplePorts {
    PeoplePorts {
        users: Arc::clone(&mysql.users),
        credits: Arc::clone(&mysql.credits),
        codes: Arc::clone(&redis.codes),
        sessions: Arc::clone(&redis.sessions),
        second_factors: Arc::clone(&mysql.second_factors),
        follows: Arc::clone(&mysql.follows),
        sign_ins: Arc::clone(&redis.sign_ins),
        visitors: Arc::clone(&redis.visitors),
        personal_data: Arc::clone(&mysql.personal_data),
    }
}
