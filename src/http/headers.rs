//! Headers that pages and pictures share: how long they are kept, what they are known by, and what a picture may do.

use axum::http::header::IF_NONE_MATCH;
use axum::http::{HeaderMap, HeaderValue};

/// A picture that is opened by itself runs and loads nothing.
pub(super) const PICTURE_POLICY: HeaderValue =
    HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'; sandbox");
/// What may have changed is asked for again, and answered with 304.
pub(super) const ASK_AGAIN: HeaderValue = HeaderValue::from_static("no-cache");
/// What such a name stands for never changes.
pub(super) const FOR_EVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");

/// A tag of content, as a header wants it.
pub(super) fn quoted(tag: &str) -> HeaderValue {
    HeaderValue::from_str(&format!("\"{tag}\"")).unwrap_or(HeaderValue::from_static("\"\""))
}

/// Whether the client has what this tag stands for.
pub(super) fn is_known(headers: &HeaderMap, etag: &HeaderValue) -> bool {
    headers.get(IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == etag.as_bytes())
}
