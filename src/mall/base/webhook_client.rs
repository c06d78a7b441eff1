//! Webhooks: JSON posted to a URL, with a signature if there is a secret.

use std::time::Duration;

use hyper::header::{HeaderMap, HeaderValue};
use hyper::{Method, StatusCode};
use mallbox_storage::Timestamp;

use super::outbound::{Endpoint, OutboundError, OutboundRequest, UrlError};
use super::request_signature::{SIGNATURE, SharedSecret, TIMESTAMP, timestamp};
use super::{Clock as _, SystemClock};

/// A URL to post JSON to. Redirects are not followed. `Debug` hides the URL, which often contains a key.
#[derive(Clone, Debug)]
pub(in crate::mall) struct WebhookClient {
    endpoint: Endpoint,
    /// Key of the signatures; unsigned without.
    secret: Option<SharedSecret>,
}

impl WebhookClient {
    /// Creates a client for an `https://` URL, or an `http://` URL of this machine.
    ///
    /// # Errors
    /// [`UrlError`] with the reason, if the URL cannot be used.
    pub(in crate::mall) fn new(url: &str) -> Result<Self, UrlError> {
        Ok(Self { endpoint: Endpoint::new(url)?, secret: None })
    }

    /// Signs every request with `secret`.
    #[must_use]
    pub(in crate::mall) fn signed_with(self, secret: impl Into<String>) -> Self {
        Self { secret: Some(SharedSecret::new(secret)), ..self }
    }

    /// Posts `body` with further headers, signed at the present time of the machine. Returns the status.
    /// `limit`: time for connecting, posting and receiving the head of the response together.
    ///
    /// # Errors
    /// [`OutboundError`] without the URL: the receiver may have got the request, unless no connection was
    /// opened.
    pub(in crate::mall) async fn post(
        &self,
        body: Vec<u8>,
        mut headers: HeaderMap,
        limit: Duration,
    ) -> Result<StatusCode, OutboundError> {
        if let Some(secret) = &self.secret {
            let (time, signature) = signed(secret, &body, SystemClock.now());
            for (name, value) in [(TIMESTAMP, time), (SIGNATURE, signature)] {
                let value = HeaderValue::try_from(value).expect("digits and letters are a header's value");
                headers.insert(name, value);
            }
        }
        let request = OutboundRequest { method: Method::POST, path: self.endpoint.path(), headers, body };
        let sent = tokio::time::timeout(limit, self.endpoint.send(request, 0)).await;
        sent.unwrap_or_else(|_| Err(OutboundError::late(limit))).map(|response| response.status)
    }

    /// Posts `body` to a receiver for which any status of 200 to 299 means that it has the body.
    ///
    /// # Errors
    /// One sentence without the URL. The receiver may have the body.
    pub(in crate::mall) async fn deliver(&self, body: Vec<u8>, limit: Duration) -> Result<(), String> {
        match self.post(body, HeaderMap::new(), limit).await {
            Ok(status) if status.is_success() => Ok(()),
            Ok(status) => Err(format!("responded with {status}")),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Replaces the trusted authorities.
    #[cfg(all(test, feature = "https"))]
    pub(in crate::mall) fn trusting(
        self,
        tls: (super::tls::TlsClient, tokio_rustls::rustls::pki_types::ServerName<'static>),
    ) -> Self {
        Self { endpoint: self.endpoint.trusting(tls), ..self }
    }
}

/// Returns the values of [`TIMESTAMP`] and [`SIGNATURE`] for a body sent `now`.
fn signed(secret: &SharedSecret, body: &[u8], now: Timestamp) -> (String, String) {
    let time = timestamp(now);
    let signature = secret.signature(&[time.as_bytes(), b".", body]);
    (time, signature)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_has_the_form_that_the_manual_describes() {
        // printf '1795262400.{"a":1}' | openssl dgst -sha256 -hmac s3cr3t
        let (time, signature) =
            signed(&SharedSecret::new("s3cr3t"), br#"{"a":1}"#, Timestamp::from_millis(1_795_262_400_123));
        assert_eq!(time, "1795262400");
        assert_eq!(signature, "sha256=b43206863821364532d53b0862c6d9e4af49ef0654d90f05e32738d4d12b0353");
    }
}
