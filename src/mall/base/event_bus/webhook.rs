//! Delivery of an event to a webhook: one signed request.

use std::time::Duration;

use hyper::Method;
use hyper::header::{HeaderMap, HeaderValue};

use crate::mall::base::outbound::{Endpoint, OutboundRequest, UrlError};
use crate::mall::base::request_signature::{SIGNATURE, SharedSecret, TIMESTAMP, timestamp};
use crate::mall::base::{Clock as _, SystemClock};

/// A subscriber's webhook. Any status of 200 to 299 counts as received; redirects are not followed.
#[derive(Clone, Debug)]
pub(in crate::mall) struct EventWebhook {
    endpoint: Endpoint,
    secret: SharedSecret,
}

impl EventWebhook {
    /// Timeout for connecting, posting and receiving the head of the response together, in real time.
    pub(in crate::mall) const TIMEOUT: Duration = Duration::from_secs(5);

    /// Creates a webhook for an `https://` URL, or an `http://` URL of this machine.
    ///
    /// # Errors
    /// [`UrlError`] with the reason, if the URL cannot be used.
    pub(in crate::mall) fn new(url: &str, secret: &str) -> Result<Self, UrlError> {
        Ok(Self { endpoint: Endpoint::new(url)?, secret: SharedSecret::new(secret) })
    }

    /// Posts an event, signed at the present time of the machine.
    ///
    /// # Errors
    /// One sentence without the URL. The receiver may have got the event.
    pub(in crate::mall) async fn post(&self, event: &[u8]) -> Result<(), String> {
        let time = timestamp(SystemClock.now());
        let signature = self.secret.signature(&[time.as_bytes(), b".", event]);
        let mut headers = HeaderMap::new();
        for (name, value) in [(TIMESTAMP, time), (SIGNATURE, signature)] {
            let value = HeaderValue::try_from(value).expect("digits and letters are a header's value");
            headers.insert(name, value);
        }
        let request = OutboundRequest {
            method: Method::POST,
            path: self.endpoint.path(),
            headers,
            body: event.to_vec(),
        };
        let sent = tokio::time::timeout(Self::TIMEOUT, self.endpoint.send(request, 0)).await;
        let response = sent.map_err(|_| format!("no response within {} s", Self::TIMEOUT.as_secs()))?;
        let status = response.map_err(|error| error.to_string())?.status;
        if status.is_success() { Ok(()) } else { Err(format!("responded with {status}")) }
    }
}
