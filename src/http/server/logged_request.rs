//! A request as the log shows it.

use std::borrow::Cow;
use std::net::IpAddr;
use std::time::Duration;

use axum::http::{HeaderValue, Method, Uri};
use tracing::field::DisplayValue;

use super::api_path::without_phones;
use super::security::Cause;
use crate::http::request::attempt::Attempt;
use crate::language::Language;

/// Fields of a request's log line. The query is never logged, because queries contain phone numbers.
pub(super) struct LoggedRequest {
    pub(super) id: HeaderValue,
    pub(super) client: Option<IpAddr>,
    pub(super) is_api: bool,
    pub(super) method: Method,
    pub(super) uri: Uri,
    pub(super) code: &'static str,
    pub(super) language: Language,
    pub(super) elapsed: Duration,
}

impl LoggedRequest {
    /// Returns the request id.
    pub(super) fn id(&self) -> &str {
        self.id.to_str().unwrap_or_default()
    }

    /// Returns the request as the cause of a security event.
    pub(super) fn cause(&self, attempt: Attempt, is_api: bool) -> Cause<'_> {
        Cause {
            client: self.client,
            attempt,
            request_id: self.id(),
            method: &self.method,
            path: is_api.then(|| self.uri.path()),
            code: self.code,
        }
    }

    /// Returns the path without phone numbers.
    pub(super) fn path(&self) -> Cow<'_, str> {
        without_phones(self.uri.path())
    }

    /// Returns the client's address for the log; `None` for a call from within the process.
    pub(super) fn client(&self) -> Option<DisplayValue<IpAddr>> {
        self.client.map(tracing::field::display)
    }

    /// Returns the time of the request in milliseconds.
    pub(super) fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.elapsed.as_millis()).unwrap_or(u64::MAX)
    }
}
