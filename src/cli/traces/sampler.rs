//! The choice of spans: requests that the gateway chose, and the work below them.

use mallbox_storage::SPAN_TARGET;
use opentelemetry::trace::{Link, SpanKind, TraceContextExt as _, TraceId, TraceState};
use opentelemetry::{Context, KeyValue};
use opentelemetry_sdk::trace::{SamplingDecision, SamplingResult, ShouldSample};
use tracing::level_filters::LevelFilter;
use tracing::subscriber::Interest;
use tracing::{Metadata, Subscriber};
use tracing_subscriber::layer::{self, Filter};
use tracing_subscriber::registry::LookupSpan;

use crate::http::REQUEST_SPAN;

/// Enables spans of requests, and spans below one. Background jobs, and requests that the gateway left out,
/// cost a look-up of the thread's current span instead of a span. Lines of the log, which may contain an
/// address, are never enabled.
#[derive(Clone, Copy, Debug)]
pub(super) struct InRequests;

impl InRequests {
    fn is_for_traces(metadata: &Metadata<'_>) -> bool {
        metadata.is_span() && metadata.target() == SPAN_TARGET
    }
}

impl<S> Filter<S> for InRequests
where
    S: Subscriber + for<'span> LookupSpan<'span>,
{
    fn enabled(&self, metadata: &Metadata<'_>, context: &layer::Context<'_, S>) -> bool {
        Self::is_for_traces(metadata)
            && (metadata.name() == REQUEST_SPAN || context.lookup_current().is_some())
    }

    fn callsite_enabled(&self, metadata: &'static Metadata<'static>) -> Interest {
        if Self::is_for_traces(metadata) { Interest::sometimes() } else { Interest::never() }
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::INFO)
    }
}

/// Sends every span of a request, and the spans below it: the gateway begins spans only for requests to
/// trace.
#[derive(Clone, Debug)]
pub(super) struct RequestSampler;

impl ShouldSample for RequestSampler {
    fn should_sample(
        &self,
        parent: Option<&Context>,
        _: TraceId,
        _: &str,
        kind: &SpanKind,
        _: &[KeyValue],
        _: &[Link],
    ) -> SamplingResult {
        let above = parent.filter(|context| context.has_active_span());
        let above = above.map(|context| context.span().span_context().clone());
        let is_below = above.is_some_and(|above| !above.is_remote() && above.is_sampled());
        let is_sampled = is_below || *kind == SpanKind::Server;
        SamplingResult {
            decision: if is_sampled { SamplingDecision::RecordAndSample } else { SamplingDecision::Drop },
            attributes: Vec::new(),
            trace_state: TraceState::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use opentelemetry::trace::{SpanContext, SpanId, TraceFlags};

    use super::*;

    #[test]
    fn only_work_of_a_request_is_sampled() {
        for (parent, kind, expected) in [
            (None, SpanKind::Server, true),
            (None, SpanKind::Client, false),
            (Some((true, true)), SpanKind::Server, true),
            (Some((true, true)), SpanKind::Client, false),
            (Some((false, true)), SpanKind::Client, true),
            (Some((false, false)), SpanKind::Internal, false),
        ] {
            let context = parent.map(|(is_remote, is_sampled)| {
                let flags = TraceFlags::default().with_sampled(is_sampled);
                let trace = TraceId::from(1);
                let span = SpanContext::new(trace, SpanId::from(7), flags, is_remote, TraceState::default());
                Context::new().with_remote_span_context(span)
            });
            let result =
                RequestSampler.should_sample(context.as_ref(), TraceId::from(1), "", &kind, &[], &[]);
            let is_sampled = result.decision == SamplingDecision::RecordAndSample;
            assert_eq!(is_sampled, expected, "{parent:?} {kind:?}");
        }
    }
}
