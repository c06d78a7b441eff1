//! The mall over HTTP. Handlers translate requests to service calls and results to envelopes; business
//! decisions are made in `mall`.

use std::sync::Arc;

use crate::mall::Mall;

pub use crate::language::Language;

pub mod describe;
pub mod envelope;
pub mod error;
pub mod extract;
mod language;
mod query_text;
mod words;
mod wrong;

pub mod blog;
mod blog_comments;
mod feed;
pub mod follow;
mod like;
pub mod ops;
mod receipt;
mod report;
pub mod router;
pub mod sale;
pub mod shop;
pub mod shop_types;
mod sign;
pub mod upload;
pub mod user;
mod visits;
pub mod voucher;
pub mod voucher_order;

mod address_gate;
mod allowance;
mod arrival;
mod body_text;
mod caller;
mod client_address;
mod coerced;
mod connection;
pub mod control;
mod encodings;
mod files;
mod front;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;
mod headers;
mod health;
mod host_names;
mod json;
mod log_budget;
pub(crate) mod manual;
mod metrics;
mod note_html;
mod open_connections;
mod own_pages;
mod page_query;
mod picture_form;
mod picture_list;
mod qr;
mod request_id;
mod server;
mod web_files;

pub use address_gate::AddressRateLimit;
pub use arrival::Arrives;
pub use caller::{CLIENT, Profile};
pub use client_address::{ProxyHeader, TrustedProxies};
pub use connection::ConnectionTimeouts;
pub use envelope::{Answer, Reply};
pub use error::ApiError;
pub use files::Files;
pub use front::{CALL_TIMEOUT, FrontOptions, Gateway};
pub use health::Health;
pub use host_names::HostNames;
pub use metrics::Metrics;

pub use router::{Site, SiteOptions, site};
pub use server::{Bound, CONNECTIONS_PER_ADDRESS, Server, ServerError, ServerOptions};
pub use wrong::{BadRequest, Expected};

/// The state passed to every handler.
pub type App = Arc<Mall>;
