//! What an instance is made of.

use super::database::Database;
use super::redis_client::Redis;

/// What an instance is made of.
pub(crate) struct Parts {
    /// Redis, of the stock and of the locks.
    pub(crate) redis: Redis,
    /// Three independent Redis servers, for the multi-lock.
    pub(crate) masters: Vec<Redis>,
    /// The database.
    pub(crate) database: Database,
    /// Number of the instance.
    pub(crate) instance: u8,
}
