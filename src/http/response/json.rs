//! JSON responses with the matching content type.

use axum::body::{Body, Bytes};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// Builds a response with a JSON body.
pub(in crate::http) fn json_response(status: StatusCode, body: Bytes) -> Response {
    let empty = body.is_empty();
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    if !empty {
        response.headers_mut().insert(CONTENT_TYPE, JSON);
    }
    response
}
