//! The id of a request, found in the log and in the response.

use std::sync::atomic::Ordering::Relaxed;

use axum::http::{HeaderMap, HeaderValue};

use super::metrics::Tally;

/// Generates ids: a random prefix of the mall, the worker's number, a counter. Unique without coordination
/// between workers.
#[derive(Clone)]
pub(in crate::http) struct RequestIds {
    prefix: u32,
}

/// Maximum length of an id from a client. Longer ids are replaced, as are ids rejected by [`is_sane`].
const CLIENT_ID_MAX_BYTES: usize = 64;

impl RequestIds {
    /// Creates a generator with a prefix distinct from other malls'.
    pub(in crate::http) fn new(prefix: u32) -> Self {
        Self { prefix }
    }

    /// Returns the id sent with the request, or a new id.
    pub(in crate::http) fn of(&self, headers: &HeaderMap, tally: &Tally) -> HeaderValue {
        if let Some(given) = headers.get("x-request-id").filter(|id| is_sane(id.as_bytes())) {
            return given.clone();
        }
        let number = tally.numbered.fetch_add(1, Relaxed);
        let mut text = Vec::with_capacity(28);
        push_hex(&mut text, u64::from(self.prefix), 8);
        push_hex(&mut text, tally.worker as u64, 2);
        text.push(b'-');
        push_hex(&mut text, number, 6);
        HeaderValue::from_maybe_shared(bytes_of(text)).unwrap_or_else(|_| HeaderValue::from_static("-"))
    }
}

fn bytes_of(text: Vec<u8>) -> axum::body::Bytes {
    axum::body::Bytes::from(text)
}

/// Appends at least `width` hexadecimal digits.
fn push_hex(text: &mut Vec<u8>, number: u64, width: u32) {
    let needed = (64 - number.leading_zeros()).div_ceil(4);
    for place in (0..needed.max(width)).rev() {
        let digit = u8::try_from(number >> (place * 4) & 15).unwrap_or_default();
        text.push(b"0123456789abcdef"[usize::from(digit)]);
    }
}

pub(in crate::http) fn is_sane(id: &[u8]) -> bool {
    !id.is_empty()
        && id.len() <= CLIENT_ID_MAX_BYTES
        && id.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:".contains(byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::server::metrics::Metrics;

    #[test]
    fn a_sane_id_is_kept_and_another_replaced() {
        let (ids, tally) = (RequestIds { prefix: 0xab }, Metrics::default().worker());
        let asked = |given: &str| {
            let mut headers = HeaderMap::new();
            headers.insert("x-request-id", HeaderValue::from_bytes(given.as_bytes()).unwrap());
            ids.of(&headers, &tally).to_str().unwrap().to_owned()
        };
        assert_eq!(asked("trace-7_a.b:c"), "trace-7_a.b:c");
        assert_eq!(asked(""), "000000ab00-000000");
        assert_eq!(asked("a b"), "000000ab00-000001");
        assert_eq!(asked(&"x".repeat(65)), "000000ab00-000002");
        tally.numbered.store(0x123_4567, Relaxed);
        assert_eq!(asked("茶"), "000000ab00-1234567");
    }
}
