//! The header `traceparent` of W3C Trace Context, version 00. `tracestate` is never read: it may hold
//! anything.

use axum::http::HeaderMap;

/// The caller's position in a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Traceparent {
    trace: u128,
    span: u64,
    flags: u8,
}

impl Traceparent {
    /// Parses the header; `None` if absent or invalid.
    pub(super) fn of(headers: &HeaderMap) -> Option<Self> {
        Self::parse(headers.get("traceparent")?.to_str().ok()?)
    }

    fn parse(text: &str) -> Option<Self> {
        let is_lower_hex = |part: &str| part.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let mut parts = text.trim().split('-');
        let (version, trace, span, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let lengths = [version, trace, span, flags].map(str::len);
        // A later version may append fields.
        let is_known = version == "00" && parts.next().is_none() || version != "00" && version != "ff";
        if lengths != [2, 32, 16, 2]
            || !is_known
            || ![version, trace, span, flags].into_iter().all(is_lower_hex)
        {
            return None;
        }
        let parsed = Self {
            trace: u128::from_str_radix(trace, 16).ok()?,
            span: u64::from_str_radix(span, 16).ok()?,
            flags: u8::from_str_radix(flags, 16).ok()?,
        };
        (parsed.trace != 0 && parsed.span != 0).then_some(parsed)
    }

    /// Returns whether the caller traces the request.
    pub(super) fn is_sampled(self) -> bool {
        self.flags & 1 == 1
    }

    /// Returns whether the trace is among this share of all traces, by the lower half of its id, as the
    /// sampler `traceidratio` of OpenTelemetry decides.
    #[expect(clippy::cast_possible_truncation, reason = "the lower half of the id")]
    pub(super) fn is_among(self, share: f64) -> bool {
        share >= 1.0 || ((self.trace as u64) >> 1) as f64 / (1_u64 << 63) as f64 <= share && share > 0.0
    }

    /// Makes `span` part of the caller's trace. Has no effect on a disabled span.
    #[cfg(feature = "otlp")]
    pub(super) fn set_parent_of(self, span: &tracing::Span) {
        use opentelemetry::Context;
        use opentelemetry::trace::{
            SpanContext, SpanId, TraceContextExt as _, TraceFlags, TraceId, TraceState,
        };
        use tracing_opentelemetry::OpenTelemetrySpanExt as _;

        let flags = TraceFlags::default().with_sampled(self.is_sampled());
        let (trace, own) = (TraceId::from(self.trace), SpanId::from(self.span));
        let context = SpanContext::new(trace, own, flags, true, TraceState::default());
        // Fails only for a disabled span.
        let _ = span.set_parent(Context::new().with_remote_span_context(context));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_valid_header_is_read() {
        let valid = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let parsed = Traceparent::parse(valid).unwrap();
        assert_eq!(parsed.trace, 0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736);
        assert!(parsed.is_sampled() && parsed.span == 0x00f0_67aa_0ba9_02b7);
        assert!(!Traceparent::parse(&valid.replace("-01", "-00")).unwrap().is_sampled());
        assert!(Traceparent::parse(&valid.replace("00-4b", "01-4b").replace("-01", "-01-more")).is_some());
        for bad in [
            "",
            "00",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01",
            "00-+bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        ] {
            assert_eq!(Traceparent::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_share_of_traces_is_chosen_by_their_ids() {
        let trace = |trace| Traceparent { trace, span: 1, flags: 1 };
        let half = u128::from(u64::MAX / 2);
        for (id, share, expected) in
            [(1, 0.001, true), (half, 0.6, true), (half, 0.4, false), (u128::MAX, 1.0, true), (1, 0.0, false)]
        {
            assert_eq!(trace(id).is_among(share), expected, "{id:x} {share}");
        }
    }
}
