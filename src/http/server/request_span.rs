//! Spans of requests, for traces: begun for a share of the requests, and for none without a collector.
//!
//! A span holds method, route, status, code and request id. It never holds a path, a query, a header, an
//! address or a body, which may contain personal data.
//!
//! Reasons and figures: `src/decisions/0082-traces-by-otlp.md`.

use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode};
use mallbox_storage::SPAN_TARGET;
use tracing::Span;
use tracing::field::Empty;

use super::security::known_method;
use super::traceparent::Traceparent;

/// Name of the spans of requests.
pub(crate) const REQUEST_SPAN: &str = "request";

/// The choice of requests to trace.
#[derive(Clone, Copy, Debug)]
pub(super) struct RequestTraces {
    share: f64,
}

impl RequestTraces {
    /// Traces this share of the requests, from 0 to 1.
    pub(super) fn new(share: f64) -> Self {
        Self { share }
    }

    /// Begins the span of a request, or returns a disabled span. A valid `traceparent` makes the span part of
    /// the caller's trace. `route` returns the template of the path, `None` for a page and an unknown path.
    pub(super) fn begin(
        self,
        request: &Parts,
        id: &HeaderValue,
        route: impl FnOnce() -> Option<String>,
    ) -> Span {
        // Most malls trace nothing, at the cost of this comparison.
        if self.share == 0.0 {
            return Span::none();
        }
        let parent = Traceparent::of(&request.headers);
        if !self.chooses(parent) {
            return Span::none();
        }
        let (method, route) = (known_method(&request.method), route());
        let name = route.as_ref().map(|route| format!("{method} {route}"));
        let span = tracing::info_span!(
            target: SPAN_TARGET,
            parent: None,
            REQUEST_SPAN,
            otel.kind = "server",
            otel.name = name.as_deref().unwrap_or(method),
            otel.status_code = Empty,
            http.request.method = method,
            http.route = route,
            http.response.status_code = Empty,
            mallbox.code = Empty,
            mallbox.request_id = harmless_id(request, id),
        );
        #[cfg(feature = "otlp")]
        if let Some(parent) = parent {
            parent.set_parent_of(&span);
        }
        span
    }

    /// A caller that does not trace its request turns the trace off. No caller can turn it on: anybody may
    /// send `traceparent`. Of the others, services with the same share choose the same traces.
    fn chooses(self, parent: Option<Traceparent>) -> bool {
        match parent {
            Some(parent) => parent.is_sampled() && parent.is_among(self.share),
            None => rand::random::<f64>() < self.share,
        }
    }
}

/// Records the outcome of a request.
pub(super) fn end(span: &Span, status: StatusCode, code: &'static str) {
    span.record("http.response.status_code", status.as_u16());
    if !code.is_empty() {
        span.record("mallbox.code", code);
    }
    if status.is_server_error() {
        span.record("otel.status_code", "ERROR");
    }
}

/// Returns the id of a request. `None` if the client chose an id that may contain a phone number or a token.
fn harmless_id<'a>(request: &Parts, id: &'a HeaderValue) -> Option<&'a str> {
    let is_own = request.headers.get("x-request-id") != Some(id);
    id.to_str().ok().filter(|id| is_own || is_harmless(id))
}

/// Returns whether an id is too short for a token, and has no run of digits as long as a phone number's.
fn is_harmless(id: &str) -> bool {
    const LENGTH_MAX: usize = 24;
    const DIGITS_MAX: usize = 6;
    let mut runs = id.split(|character: char| !character.is_ascii_digit());
    id.len() <= LENGTH_MAX && runs.all(|run| run.len() <= DIGITS_MAX)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderMap;

    use super::*;

    #[test]
    fn an_id_with_a_phone_number_or_a_token_is_left_out() {
        for id in ["traced", "web-1f3c2b-000017"] {
            assert!(is_harmless(id), "{id}");
        }
        for id in ["13900000001", "order-13900000001", "user:1390000", "0123456789abcdef0123456789abcdef"] {
            assert!(!is_harmless(id), "{id}");
        }
    }

    #[test]
    fn a_caller_can_turn_a_trace_off_and_not_on() {
        for (share, traceparent, expected) in [
            (1.0, None, true),
            (1.0, Some("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"), true),
            (1.0, Some("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"), false),
            (0.0, None, false),
            (0.0, Some("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"), false),
            (0.5, Some("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"), false),
            (0.5, Some("00-4bf92f3577b34da623ce929d0e0e4736-00f067aa0ba902b7-01"), true),
        ] {
            let mut headers = HeaderMap::new();
            if let Some(text) = traceparent {
                headers.insert("traceparent", HeaderValue::from_static(text));
            }
            let parent = Traceparent::of(&headers);
            assert_eq!(RequestTraces::new(share).chooses(parent), expected, "{share} {traceparent:?}");
        }
    }
}
