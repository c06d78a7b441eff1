//! Headers common to all responses, and to pages and pictures: caching, `ETag`, content security policy.

use axum::http::header::{CACHE_CONTROL, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderMap, HeaderName, HeaderValue};

/// A picture opened as a page runs no script and loads nothing.
pub(in crate::http) const PICTURE_POLICY: HeaderValue =
    HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'; sandbox");
/// Content may change: the client revalidates, and gets 304 if unchanged.
pub(in crate::http) const REVALIDATE: HeaderValue = HeaderValue::from_static("no-cache");
/// Lets nginx keep a copy for a second despite `cache-control`; nginx drops the header. Before version 1.23,
/// nginx follows whichever of the two headers comes first.
const ONE_SECOND_IN_NGINX: (HeaderName, HeaderValue) =
    (HeaderName::from_static("x-accel-expires"), HeaderValue::from_static("1"));
/// Content under a versioned or random name never changes.
pub(in crate::http) const IMMUTABLE: HeaderValue =
    HeaderValue::from_static("public, max-age=31536000, immutable");

/// Nothing keeps a copy: neither the browser nor a proxy.
pub(in crate::http) const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
const NOSNIFF: HeaderValue = HeaderValue::from_static("nosniff");
const SAME_ORIGIN: HeaderValue = HeaderValue::from_static("same-origin");

/// Adds the headers that every response has.
///
/// A call of the API that says nothing else about caching must not be stored: the response may depend on the
/// token. Without `ETag` or `Last-Modified`, no cache would gain from a copy.
pub(in crate::http) fn add_common(headers: &mut HeaderMap, is_api: bool) {
    headers.insert(X_CONTENT_TYPE_OPTIONS, NOSNIFF);
    headers.insert(REFERRER_POLICY, SAME_ORIGIN);
    if is_api {
        headers.entry(CACHE_CONTROL).or_insert(NO_STORE);
    }
}

/// Adds the headers of a document that may change and is the same for everybody: clients revalidate, and a
/// crowd behind a caching nginx costs the mall one call a second.
pub(in crate::http) fn add_shared_document(headers: &mut HeaderMap) {
    let (name, value) = ONE_SECOND_IN_NGINX;
    headers.insert(name, value);
    headers.insert(CACHE_CONTROL, REVALIDATE);
}

/// Returns a quoted `ETag` value.
pub(in crate::http) fn quoted(tag: &str) -> HeaderValue {
    HeaderValue::from_str(&format!("\"{tag}\"")).unwrap_or(HeaderValue::from_static("\"\""))
}

/// Returns whether the client's copy has this tag, among the values of `If-None-Match`.
pub(in crate::http) fn is_known<'h>(
    known: impl IntoIterator<Item = &'h HeaderValue>,
    etag: &HeaderValue,
) -> bool {
    let values = known.into_iter().filter_map(|value| value.to_str().ok());
    let mut names = values.flat_map(|value| value.split(','));
    // A CDN may have weakened the tag; the tags are compared all the same.
    names.any(|name| {
        let name = name.trim();
        name == "*" || name.strip_prefix("W/").unwrap_or(name).as_bytes() == etag.as_bytes()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_that_the_client_has_is_known_however_it_names_it() {
        let etag = quoted("page");
        for (sent, expected) in [
            (&["\"page\""][..], true),
            (&["W/\"page\""], true),
            (&["\"other\", \"page\""], true),
            (&["\"other\"", "\"page\""], true),
            (&["*"], true),
            (&["\"other\""], false),
            (&["page"], false),
            (&[], false),
        ] {
            let sent: Vec<HeaderValue> = sent.iter().map(|value| value.parse().unwrap()).collect();
            assert_eq!(is_known(&sent, &etag), expected, "{sent:?}");
        }
    }
}
