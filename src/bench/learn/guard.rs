//! Refuses requests that have no access.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use super::shared::Learn;

/// Refuses requests to other names and of other origins.
pub(super) async fn check_host(State(learn): State<Arc<Learn>>, request: Request, next: Next) -> Response {
    if learn.access.is_here(request.headers()) {
        return next.run(request).await;
    }
    (StatusCode::FORBIDDEN, "open the address that mallbox learn printed").into_response()
}

/// Refuses calls without the key.
pub(super) async fn check_key(State(learn): State<Arc<Learn>>, request: Request, next: Next) -> Response {
    if learn.access.has_key(request.headers()) {
        return next.run(request).await;
    }
    (StatusCode::UNAUTHORIZED, "open the address that mallbox learn printed: its key is missing")
        .into_response()
}
