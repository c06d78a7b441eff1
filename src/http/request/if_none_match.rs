//! Conditional requests: `If-None-Match`, and the answer to a client that has the content already.
//!
//! Only for content that is the same for everybody: what depends on a token is stored nowhere.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::HeaderValue;
use axum::http::header::{CACHE_CONTROL, ETAG, IF_NONE_MATCH, VARY};
use axum::http::request::Parts;
use mallbox_storage::hex;
use sha2::{Digest as _, Sha256};

use crate::http::response::envelope::Answer;
use crate::http::response::headers::{REVALIDATE, is_known, quoted};

/// Picture URLs differ for the mall's own pages.
const BY_CLIENT: HeaderValue = HeaderValue::from_static("x-mallbox-client");

/// The `If-None-Match` tags of a request.
pub(in crate::http) struct IfNoneMatch(Vec<HeaderValue>);

impl IfNoneMatch {
    /// Answers with content that is the same for everybody; with 304 if the client has it. Clients revalidate
    /// their copy before each use.
    pub(in crate::http) fn answer<T>(&self, answer: Answer<T>) -> Answer<T> {
        self.answer_for(answer, REVALIDATE)
    }

    /// Answers like [`answer`](Self::answer), with another `Cache-Control`.
    pub(in crate::http) fn answer_for<T>(&self, answer: Answer<T>, caching: HeaderValue) -> Answer<T> {
        self.unless_known(answer).with_header(CACHE_CONTROL, caching).with_header(VARY, BY_CLIENT)
    }

    fn unless_known<T>(&self, answer: Answer<T>) -> Answer<T> {
        let etag = etag(answer.bytes());
        if is_known(&self.0, &etag) { Answer::not_modified(etag) } else { answer.with_header(ETAG, etag) }
    }
}

/// Returns the `ETag` of a content: a hash of its bytes.
fn etag(bytes: &[u8]) -> HeaderValue {
    quoted(&hex(&Sha256::digest(bytes)[..16]))
}

impl<S: Send + Sync> FromRequestParts<S> for IfNoneMatch {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self(parts.headers.get_all(IF_NONE_MATCH).iter().cloned().collect()))
    }
}
