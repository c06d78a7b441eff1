//! The server: listener, connections, and the layer before every handler.

pub mod address_rate_limit;
pub mod arrival;
pub mod call_limits;
pub mod connection;
pub mod front;
pub mod health;
pub mod listener;
pub mod log_budget;
pub mod metrics;
pub mod request_id;
