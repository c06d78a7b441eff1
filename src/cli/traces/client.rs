//! The client by which the exporter reaches the collector.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use hyper::body::Bytes;
use hyper::{Request, Response};
use opentelemetry_http::{HttpClient, HttpError};

use super::queue::QueueState;
use crate::mall::operator::trace_collector::TraceCollector;

/// Sends batches to a collector, each over a new connection.
#[derive(Debug)]
pub(super) struct CollectorClient {
    pub(super) collector: TraceCollector,
    /// Time limit of a batch.
    pub(super) limit: Duration,
    pub(super) state: Arc<QueueState>,
}

#[async_trait]
impl HttpClient for CollectorClient {
    /// Blocks the calling thread, which is the sender's own.
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (parts, body) = request.into_parts();
        // The sender's thread has no runtime. One per batch costs some 20 µs, and ends with the call.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let posted = runtime.block_on(self.collector.post(parts.headers, body.to_vec(), self.limit));
        // A look-up of the host's name may still be under way.
        runtime.shutdown_background();
        let (status, body) = posted.inspect_err(|cause| self.state.note(cause))?;
        Ok(Response::builder().status(status).body(body)?)
    }
}
