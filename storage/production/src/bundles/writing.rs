//! The ports of writing: MySQL, and feeds cached in Redis.

use std::sync::Arc;

use mallbox_storage::WritingPorts;

use crate::mysql::MysqlPorts;
use crate::redis::RedisPorts;

/// Bundles the ports of both servers.
pub(crate) fn ports(mysql: &MysqlPorts, redis: &RedisPorts) -> WritingPorts {
    WritingPorts {
        notes: Arc::clone(&mysql.notes),
        comments: Arc::clone(&mysql.comments),
        likes: Arc::clone(&mysql.likes),
        feeds: Arc::clone(&redis.feeds),
        reviews: Arc::clone(&mysql.reviews),
        votes: Arc::clone(&mysql.votes),
        vote_lines: Arc::clone(&mysql.vote_lines),
        reports: Arc::clone(&mysql.reports),
        pictures: Arc::clone(&mysql.pictures),
    }
}
