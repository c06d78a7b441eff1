//! What handlers read from a request.

pub(in crate::http) mod attempt;
pub(in crate::http) mod body_text;
pub(in crate::http) mod client;
pub mod client_address;
pub(in crate::http) mod coerced;
pub mod extract;
pub mod gateway_token;
pub(in crate::http) mod guard_headers;
pub(in crate::http) mod if_none_match;
pub(in crate::http) mod page_query;
pub(in crate::http) mod query_text;
pub mod signed_body;
pub(in crate::http) mod staff_calls;
