//! The operators' API.

pub mod bad_requests;
pub mod events;
pub mod live;
mod ops;
mod security_events;
mod users;

use super::world;
