//! The operators' API.

pub mod bad_requests;
pub mod live;
mod ops;
pub mod retries;
mod security_events;
mod users;

use super::world;
