//! The server: listener, connections, and the layer before every handler.

pub mod address_rate_limit;
pub mod api_path;
pub mod arrival;
pub mod audience;
pub mod backlog;
pub mod call_limits;
pub mod connection;
pub mod endpoint_limits;
pub mod front;
pub mod health;
pub mod host_names;
pub mod listener;
pub mod log_budget;
mod logged_request;
pub mod metrics;
pub mod open_connections;
pub mod options;
pub mod request_id;
pub mod request_span;
mod retry_metrics;
pub mod security;
mod traceparent;
