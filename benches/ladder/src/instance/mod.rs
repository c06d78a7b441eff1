//! An instance: a process that serves the requests of one rung.

mod database;
mod gate;
mod output;
mod parts;
mod protocol;
mod redis_client;
mod request;
mod serve;

pub(crate) use database::{Database, number};
pub(crate) use parts::Parts;
pub(crate) use protocol::{Instruction, Line, Task};
pub(crate) use redis_client::{Redis, script};
pub(crate) use request::Request;
pub use serve::run_instance;
