//! The operators' API.

pub mod bad_requests;
pub mod live;
mod ops;
mod users;

use super::world;
