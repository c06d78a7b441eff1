//! What handlers read from a request.

pub mod body_text;
pub mod coerced;
pub mod extract;
pub mod page_query;
pub mod peer;
pub mod query_text;
