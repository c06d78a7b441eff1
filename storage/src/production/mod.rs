//! The production back end: Redis for what is fast and shared, MySQL for the record.
//!
//! Any number of processes share both. Nothing that one of them holds in memory is the truth about anything.

mod holders;
pub mod redis;

pub use holders::{Holder, Holders};
