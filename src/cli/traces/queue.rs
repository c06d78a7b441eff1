//! The bounded queue of spans, and the counts of those that did not reach the collector.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use opentelemetry::Context;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::{OTelSdkError, OTelSdkResult};
use opentelemetry_sdk::trace::{Span, SpanData, SpanExporter, SpanProcessor};
use parking_lot::Mutex;

/// Spans that wait for the collector, at most; a span takes about 1 KiB.
pub(super) const SPANS_MAX: usize = 4_096;
/// Shortest interval between two lines of the log about lost spans.
const REPORT_INTERVAL: Duration = Duration::from_secs(60);

/// Counts of spans.
#[derive(Debug, Default)]
pub(super) struct QueueState {
    /// Spans in the queue or on their way.
    waiting: AtomicUsize,
    /// Spans dropped since the last report, because the queue was full.
    dropped: AtomicU64,
    /// Spans of batches that the collector did not take since the last report.
    failed: AtomicU64,
    /// The last failure to reach the collector, since the last report.
    cause: Mutex<Option<String>>,
    reported: Mutex<Option<Instant>>,
}

impl QueueState {
    /// Takes a place in the queue. Returns false, and counts a drop, if the queue is full.
    fn enter(&self) -> bool {
        if self.waiting.fetch_add(1, Ordering::Relaxed) < SPANS_MAX {
            return true;
        }
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        self.dropped.fetch_add(1, Ordering::Relaxed);
        false
    }

    fn leave(&self, spans: usize) {
        self.waiting.fetch_sub(spans, Ordering::Relaxed);
    }

    /// Notes why the collector was not reached.
    pub(super) fn note(&self, cause: &str) {
        *self.cause.lock() = Some(cause.to_owned());
    }

    /// Logs lost spans, unless the last line is younger than [`REPORT_INTERVAL`].
    fn report(&self, error: Option<&OTelSdkError>) {
        let mut reported = self.reported.lock();
        if reported.is_some_and(|at| at.elapsed() < REPORT_INTERVAL) {
            return;
        }
        let (dropped, failed) = self.take();
        if dropped + failed > 0 {
            let cause = self.cause.lock().take().or_else(|| error.map(ToString::to_string));
            let error = cause.unwrap_or_default();
            tracing::warn!(
                failed,
                dropped,
                error,
                "lost spans: the collector of --otlp does not take them in time"
            );
            *reported = Some(Instant::now());
        }
    }

    /// Logs the spans lost at a stop.
    pub(super) fn report_rest(&self, is_flushed: bool) {
        let (dropped, failed) = self.take();
        let unsent = if is_flushed { 0 } else { self.waiting.load(Ordering::Relaxed) };
        if dropped + failed > 0 || unsent > 0 {
            tracing::warn!(failed, dropped, unsent, "lost spans at the stop");
        }
    }

    fn take(&self) -> (u64, u64) {
        (self.dropped.swap(0, Ordering::Relaxed), self.failed.swap(0, Ordering::Relaxed))
    }
}

/// Passes finished spans on while the queue has room, and never waits.
#[derive(Debug)]
pub(super) struct BoundedProcessor<P> {
    next: P,
    state: Arc<QueueState>,
}

impl<P> BoundedProcessor<P> {
    pub(super) fn new(next: P, state: Arc<QueueState>) -> Self {
        Self { next, state }
    }
}

impl<P: SpanProcessor> SpanProcessor for BoundedProcessor<P> {
    fn on_start(&self, span: &mut Span, context: &Context) {
        self.next.on_start(span, context);
    }

    fn on_end(&self, span: SpanData) {
        if span.span_context.is_sampled() && self.state.enter() {
            self.next.on_end(span);
        }
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.next.force_flush()
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.next.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.next.set_resource(resource);
    }
}

/// Counts what the collector did not take. Runs on the sender's thread.
#[derive(Debug)]
pub(super) struct CountingExporter<E> {
    next: E,
    state: Arc<QueueState>,
}

impl<E> CountingExporter<E> {
    pub(super) fn new(next: E, state: Arc<QueueState>) -> Self {
        Self { next, state }
    }
}

impl<E: SpanExporter> SpanExporter for CountingExporter<E> {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let spans = batch.len();
        let sent = self.next.export(batch).await;
        self.state.leave(spans);
        if sent.is_err() {
            self.state.failed.fetch_add(spans as u64, Ordering::Relaxed);
        }
        self.state.report(sent.as_ref().err());
        sent
    }

    fn shutdown(&self) -> OTelSdkResult {
        self.next.shutdown()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.next.set_resource(resource);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_queue_drops_and_counts() {
        let state = QueueState::default();
        let entered = (0..SPANS_MAX + 10).filter(|_| state.enter()).count();
        assert_eq!((entered, state.dropped.load(Ordering::Relaxed)), (SPANS_MAX, 10));
        state.leave(1);
        assert!(state.enter() && !state.enter());
    }

    #[test]
    fn losses_are_reported_once_a_minute() {
        let state = QueueState::default();
        let lost = || state.failed.load(Ordering::Relaxed);
        state.report(None);
        assert!(state.reported.lock().is_none(), "nothing is lost");
        state.failed.fetch_add(3, Ordering::Relaxed);
        state.report(None);
        assert_eq!(lost(), 0);
        state.failed.fetch_add(5, Ordering::Relaxed);
        state.report(None);
        assert_eq!(lost(), 5, "kept for the next report");
        *state.reported.lock() = Instant::now().checked_sub(REPORT_INTERVAL);
        state.report(None);
        assert_eq!(lost(), 0);
    }
}
