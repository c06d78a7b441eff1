//! An instance: a process that serves the requests of one rung.

mod database;
mod gate;
mod output;
mod protocol;
mod redis_client;
mod request;
mod serve;

pub(crate) use database::{Database, number};
pub(crate) use protocol::{Instruction, Line, Task};
pub(crate) use redis_client::{Redis, script};
pub(crate) use request::Request;
pub use serve::run_instance;

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
