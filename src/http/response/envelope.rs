//! The envelope of every API response: `{"success":true,"data":…,"total":…}`.

use std::fmt::Write as _;
use std::marker::PhantomData;

use axum::body::Bytes;
use axum::http::header::{CACHE_CONTROL, ETAG};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use mallbox_storage::OrderId;
use serde::Serialize;

use super::error::ApiError;
use super::headers::NO_STORE;
use super::json::json_response;

/// The result of an API handler. `T` is the type of `data`, from which the call's description is generated.
pub type Reply<T = NoData> = Result<Answer<T>, ApiError>;

/// A successful response, already serialized.
#[derive(Debug)]
pub struct Answer<T = NoData> {
    status: StatusCode,
    body: Result<Bytes, String>,
    headers: Vec<(HeaderName, HeaderValue)>,
    claims: Vec<&'static str>,
    data: PhantomData<fn() -> T>,
}

/// Extension of a response that decided several claims: the code of each refusal, `""` for an accepted claim.
#[derive(Clone, Debug)]
pub(in crate::http) struct DecidedClaims(pub Vec<&'static str>);

/// An envelope without `data`.
#[derive(Debug)]
pub enum NoData {}

/// A `T`, or no `data` if absent.
#[derive(Debug)]
pub struct Optional<T>(PhantomData<T>);

/// One page of a list, with the total count.
#[derive(Debug)]
pub struct Paged<T>(PhantomData<T>);

/// An order's id, in `data` and in `dataText`.
#[derive(Debug)]
pub enum OrderNumber {}

const DONE: Bytes = Bytes::from_static(br#"{"success":true}"#);
const OPEN: &[u8] = br#"{"success":true,"data":"#;

impl<T: Serialize> Answer<T> {
    /// Returns success with data.
    #[must_use]
    pub fn ok(data: T) -> Self {
        Self::written(write_out(&data, |_| Ok(())))
    }
}

impl Answer {
    /// Returns success without data.
    #[must_use]
    pub fn done() -> Self {
        Self::written(Ok(DONE))
    }
}

impl<T: Serialize> Answer<Optional<T>> {
    /// Returns success with data, if any.
    #[must_use]
    pub fn perhaps(data: Option<T>) -> Self {
        Self::written(data.map_or(Ok(DONE), |data| write_out(&data, |_| Ok(()))))
    }
}

impl<T: Serialize> Answer<Paged<T>> {
    /// Returns a page of a list with the total count.
    #[must_use]
    pub fn page(list: &[T], total: u64) -> Self {
        Self::written(write_out(&list, |out| {
            out.extend_from_slice(br#","total":"#);
            serde_json::to_writer(out, &total)
        }))
    }
}

impl Answer<OrderNumber> {
    /// Returns an order's id: as a number in `data`, rounded by browsers, and exactly in `dataText`.
    #[must_use]
    pub fn order_id(order: OrderId) -> Self {
        let mut out = String::with_capacity(80);
        // Writing to a String cannot fail.
        let _ = write!(out, r#"{{"success":true,"data":{order},"dataText":"{order}"}}"#);
        Self::written(Ok(Bytes::from(out)))
    }
}

impl<T> Answer<T> {
    /// Returns 304: the client's copy is current.
    #[must_use]
    pub fn not_modified(etag: HeaderValue) -> Self {
        Self { status: StatusCode::NOT_MODIFIED, ..Self::written(Ok(Bytes::new())) }.with_header(ETAG, etag)
    }

    /// Adds a header.
    #[must_use]
    pub fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    /// Adds the claims that the call decided, for the metrics: the code of each refusal, `""` for an accepted
    /// claim.
    #[must_use]
    pub fn with_claims(mut self, codes: Vec<&'static str>) -> Self {
        self.claims = codes;
        self
    }

    /// Forbids caching: the content is valid only at this moment.
    #[must_use]
    pub fn no_store(self) -> Self {
        self.with_header(CACHE_CONTROL, NO_STORE)
    }

    /// Returns the response body, to compute an `ETag`.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.body.as_deref().unwrap_or_default()
    }

    fn written(body: Result<Bytes, String>) -> Self {
        Self { status: StatusCode::OK, body, headers: Vec::new(), claims: Vec::new(), data: PhantomData }
    }
}

fn write_out(
    data: &impl Serialize,
    more: impl FnOnce(&mut Vec<u8>) -> serde_json::Result<()>,
) -> Result<Bytes, String> {
    let mut out = Vec::with_capacity(256);
    out.extend_from_slice(OPEN);
    serde_json::to_writer(&mut out, data)
        .and_then(|()| more(&mut out))
        .map_err(|error| format!("cannot serialise the response: {error}"))?;
    out.push(b'}');
    Ok(Bytes::from(out))
}

impl<T> IntoResponse for Answer<T> {
    fn into_response(self) -> Response {
        let body = match self.body {
            Ok(body) => body,
            Err(text) => return ApiError::bug(text).into_response(),
        };
        let mut response = json_response(self.status, body);
        for (name, value) in self.headers {
            response.headers_mut().insert(name, value);
        }
        if !self.claims.is_empty() {
            response.extensions_mut().insert(DecidedClaims(self.claims));
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text<T>(answer: &Answer<T>) -> &str {
        std::str::from_utf8(answer.bytes()).unwrap()
    }

    #[test]
    fn absent_fields_are_left_out() {
        assert_eq!(text(&Answer::done()), r#"{"success":true}"#);
        assert_eq!(text(&Answer::ok([1, 2])), r#"{"success":true,"data":[1,2]}"#);
        assert_eq!(text(&Answer::page(&[1], 7)), r#"{"success":true,"data":[1],"total":7}"#);
        assert_eq!(text(&Answer::perhaps(Some(1))), r#"{"success":true,"data":1}"#);
        assert_eq!(text(&Answer::perhaps(None::<u8>)), r#"{"success":true}"#);
    }

    #[test]
    fn an_order_id_is_exact_as_text() {
        let answer = Answer::order_id(OrderId::new(662_319_245_210_910_723));
        let want = r#"{"success":true,"data":662319245210910723,"dataText":"662319245210910723"}"#;
        assert_eq!(text(&answer), want);
    }

    #[test]
    fn what_cannot_be_written_is_a_bug_and_not_a_panic() {
        let map: std::collections::BTreeMap<(u8, u8), u8> = [((1, 2), 3)].into();
        assert_eq!(Answer::ok(map).into_response().status(), StatusCode::INTERNAL_SERVER_ERROR);
    }
}
