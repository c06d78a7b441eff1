//! The mall over HTTP. Handlers translate requests to service calls and results to envelopes; business
//! decisions are made in `mall`.
//!
//! Handlers are in `api`, by the areas of `mall`; `server` knows none of them, and [`router`] joins both.

use std::sync::Arc;

use crate::mall::Mall;

pub use crate::language::Language;

pub mod api;
pub mod control;
pub mod describe;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;
pub(crate) mod manual;
mod pages;
pub mod request;
pub mod response;
pub mod router;
mod server;
mod web_files;

pub use pages::files::Files;
#[cfg(feature = "ladder")]
pub use pages::learn_pages::LearnPages;
pub use request::client_address::{ProxyHeader, TrustedProxies};
pub use response::bad_request::{BadRequest, Expected};
pub use response::caller::{CLIENT, Profile};
pub use response::envelope::{Answer, Reply};
pub use response::error::ApiError;
pub use router::{SeparateSites, Site, SiteOptions, separate_sites, site};
pub use server::address_rate_limit::AddressRateLimit;
pub use server::arrival::Arrives;
pub use server::audience::Audience;
#[cfg(all(feature = "cli", feature = "production"))]
pub(crate) use server::backlog::listen;
pub use server::call_limits::CALL_TIMEOUT;
pub use server::connection::ConnectionTimeouts;
pub use server::endpoint_limits::EndpointLimit;
pub use server::front::{FrontOptions, Gateway};
pub use server::health::Health;
pub use server::host_names::HostNames;
pub use server::listener::{Bound, Server, ServerError, ServerThreads};
pub use server::metrics::Metrics;
pub use server::options::{CONNECTIONS_PER_ADDRESS, ServerOptions};
#[cfg(feature = "otlp")]
pub(crate) use server::request_span::REQUEST_SPAN;
#[cfg(all(feature = "cli", feature = "production"))]
pub(crate) use web_files::text as web_file;

/// The state passed to every handler.
pub type App = Arc<Mall>;
