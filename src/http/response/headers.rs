//! Headers common to pages and pictures: caching, `ETag`, and the content security policy of pictures.

use axum::http::header::IF_NONE_MATCH;
use axum::http::{HeaderMap, HeaderValue};

/// A picture opened as a page runs no script and loads nothing.
pub(in crate::http) const PICTURE_POLICY: HeaderValue =
    HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'; sandbox");
/// Content may change: the client revalidates, and gets 304 if unchanged.
pub(in crate::http) const REVALIDATE: HeaderValue = HeaderValue::from_static("no-cache");
/// Content under a versioned or random name never changes.
pub(in crate::http) const IMMUTABLE: HeaderValue =
    HeaderValue::from_static("public, max-age=31536000, immutable");

/// Returns a quoted `ETag` value.
pub(in crate::http) fn quoted(tag: &str) -> HeaderValue {
    HeaderValue::from_str(&format!("\"{tag}\"")).unwrap_or(HeaderValue::from_static("\"\""))
}

/// Returns whether the client's copy has this tag.
pub(in crate::http) fn is_known(headers: &HeaderMap, etag: &HeaderValue) -> bool {
    headers.get(IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == etag.as_bytes())
}
