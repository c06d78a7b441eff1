//! The mall over HTTP. Handlers turn requests into calls of a service and its answers into envelopes; what is decided
//! is decided in `mall`.

use std::sync::Arc;

use crate::mall::Mall;

pub mod envelope;
pub mod error;
pub mod extract;
mod language;
mod query_text;
mod words;

pub use envelope::{Answer, Reply};
pub use error::ApiError;
pub use language::Language;

/// What every handler is given.
pub type App = Arc<Mall>;
