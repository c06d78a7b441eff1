//! Spans for traces, in contrast to the log.

/// Target of every span for traces, and of no line of the log. The span of a request and all spans below it
/// have level INFO. Without a collector of traces they are disabled.
///
/// Spans hold names of operations, routes, ids of sales, statuses and codes. Phone numbers, tokens,
/// addresses, queries and other values of users never go into a span.
pub const SPAN_TARGET: &str = "otlp";
