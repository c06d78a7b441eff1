//! Traces by OTLP: spans of requests go to a collector, in batches, by a thread of their own.
//!
//! A request never waits for the collector: a span that finds the queue full is dropped and counted.
//!
//! Reasons and figures: `src/decisions/0082-traces-by-otlp.md`.

mod client;
mod queue;
mod sampler;

use std::sync::Arc;
use std::time::Duration;

use opentelemetry::KeyValue;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_otlp::{ExporterBuildError, SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{BatchConfigBuilder, BatchSpanProcessor, SdkTracerProvider};
use tracing::Subscriber;
use tracing_subscriber::Layer;
use tracing_subscriber::registry::LookupSpan;

use self::client::CollectorClient;
use self::queue::{BoundedProcessor, CountingExporter, QueueState, SPANS_MAX};
use self::sampler::{InRequests, RequestSampler};
use crate::mall::operator::trace_collector::TraceCollector;

/// Interval between two batches; a full batch is sent at once.
const BATCH_INTERVAL: Duration = Duration::from_secs(1);
const BATCH_MAX_SPANS: usize = 512;
/// Time limit for sending a batch, retries included.
const SEND_TIMEOUT: Duration = Duration::from_secs(5);
/// Longest delay of a stop by spans not sent yet.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(2);

/// The sender of traces. Sends the remaining spans when dropped, within [`FLUSH_TIMEOUT`].
#[derive(Debug)]
pub(super) struct Traces {
    provider: SdkTracerProvider,
    state: Arc<QueueState>,
}

impl Traces {
    /// Starts the sender's thread. Contacts the collector only when there are spans.
    ///
    /// # Errors
    /// A variable of the environment, such as `OTEL_EXPORTER_OTLP_TRACES_COMPRESSION`, cannot be used.
    pub(super) fn start(collector: TraceCollector) -> Result<Self, ExporterBuildError> {
        let state = Arc::new(QueueState::default());
        let client = CollectorClient { collector, limit: SEND_TIMEOUT, state: Arc::clone(&state) };
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(client)
            // The client knows the collector; the exporter needs a valid URL.
            .with_endpoint("http://collector/")
            .with_timeout(SEND_TIMEOUT)
            .build()?;
        let exporter = CountingExporter::new(exporter, Arc::clone(&state));
        let batches = BatchConfigBuilder::default()
            .with_max_queue_size(SPANS_MAX)
            .with_max_export_batch_size(BATCH_MAX_SPANS)
            .with_scheduled_delay(BATCH_INTERVAL)
            .build();
        let processor = BatchSpanProcessor::builder(exporter).with_batch_config(batches).build();
        let provider = SdkTracerProvider::builder()
            .with_span_processor(BoundedProcessor::new(processor, Arc::clone(&state)))
            .with_sampler(RequestSampler)
            .with_resource(resource())
            .build();
        Ok(Self { provider, state })
    }

    /// Returns the layer of the log that turns spans of requests into spans of the sender.
    pub(super) fn layer<S>(&self) -> impl Layer<S> + use<S>
    where
        S: Subscriber + for<'span> LookupSpan<'span>,
    {
        tracing_opentelemetry::layer()
            .with_tracer(self.provider.tracer("mallbox"))
            .with_location(false)
            .with_threads(false)
            .with_tracked_inactivity(false)
            .with_level(false)
            .with_target(false)
            .with_filter(InRequests)
    }
}

impl Drop for Traces {
    fn drop(&mut self) {
        let flushed = self.provider.shutdown_with_timeout(FLUSH_TIMEOUT);
        self.state.report_rest(flushed.is_ok());
    }
}

/// Describes this process.
fn resource() -> Resource {
    let machine = rustix::system::uname().nodename().to_string_lossy().into_owned();
    Resource::builder_empty()
        .with_service_name("mallbox")
        .with_attributes([
            KeyValue::new("service.version", env!("CARGO_PKG_VERSION")),
            KeyValue::new("host.name", machine),
            KeyValue::new("process.pid", i64::from(std::process::id())),
        ])
        .build()
}
