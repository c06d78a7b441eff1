//! What handlers read from a request.

pub mod body_text;
pub mod client_address;
pub mod coerced;
pub mod extract;
pub mod page_query;
pub mod query_text;
