//! A collector of traces of the operator's choice, to which spans are sent by OTLP over HTTP.

use std::time::Duration;

use hyper::body::Bytes;
use hyper::header::HeaderMap;
use hyper::{Method, StatusCode};

use crate::mall::base::outbound::{Endpoint, OutboundError, OutboundRequest};

/// Path of traces at a collector, used for a URL without a path.
const TRACES_PATH: &str = "/v1/traces";
/// Longest response of a collector that is read, in bytes.
const RESPONSE_MAX_BYTES: usize = 64 << 10;

/// A collector of traces. `Debug` hides the URL. Cheap to clone.
#[derive(Clone, Debug)]
pub struct TraceCollector {
    endpoint: Endpoint,
}

impl TraceCollector {
    /// Creates a collector with an `https://` or `http://` URL of any host: spans hold no personal data, and
    /// collectors usually run beside the mall without TLS.
    ///
    /// # Errors
    /// The reason, in one sentence, if the URL cannot be used.
    pub fn new(url: &str) -> Result<Self, String> {
        let endpoint = Endpoint::on_any_host(url).map_err(|error| error.to_string())?;
        Ok(Self { endpoint })
    }

    /// Posts a batch of spans, and returns the status with the response. `limit`: time for connecting,
    /// posting and receiving together.
    ///
    /// # Errors
    /// One sentence without the URL. The collector may have the batch.
    pub async fn post(
        &self,
        headers: HeaderMap,
        body: Vec<u8>,
        limit: Duration,
    ) -> Result<(StatusCode, Bytes), String> {
        let path = match self.endpoint.path() {
            "" | "/" => TRACES_PATH,
            path => path,
        };
        let request = OutboundRequest { method: Method::POST, path, headers, body };
        let sent = tokio::time::timeout(limit, self.endpoint.send(request, RESPONSE_MAX_BYTES)).await;
        let response =
            sent.unwrap_or_else(|_| Err(OutboundError::late(limit))).map_err(|error| error.to_string())?;
        Ok((response.status, response.body))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collector_may_be_anywhere() {
        for url in ["http://collector:4318", "http://10.0.0.7:4318/v1/traces", "http://127.0.0.1:4318/"] {
            assert!(TraceCollector::new(url).is_ok(), "{url}");
        }
        for url in ["collector:4318", "grpc://collector:4317", "http://", "http://me:key@collector"] {
            assert!(TraceCollector::new(url).is_err(), "{url}");
        }
    }
}
