//! Metrics of the retry queue in the Prometheus text format.

use mallbox_storage::Timestamp;

use super::metrics::{counters, family};
use crate::mall::base::retry::RetryMetrics;
use crate::mall::base::retry::breaker::BreakerState;

/// Writes the metrics of all kinds of work. Remote parties are counted, not named.
pub(super) fn write(out: &mut String, kinds: &[RetryMetrics], now: Timestamp) {
    type Figure = fn(&RetryMetrics) -> u64;
    let gauges: [(&str, &str, Figure); 3] = [
        ("mallbox_retry_tasks", "Open tasks of the retry queue.", |kind| kind.counts.open),
        ("mallbox_retry_bytes", "Payloads of the open tasks of the retry queue.", |kind| {
            kind.counts.open_bytes
        }),
        ("mallbox_retry_failed_tasks", "Tasks of the retry queue that failed for good.", |kind| {
            kind.counts.failed
        }),
    ];
    for (name, help, figure) in gauges {
        family(out, (name, "gauge"), help, kinds.iter().map(|kind| (label(kind), figure(kind))));
    }
    let age = |kind: &RetryMetrics| kind.counts.oldest.map_or(0, |oldest| now.since(oldest).as_secs());
    family(
        out,
        ("mallbox_retry_oldest_seconds", "gauge"),
        "Age of the oldest open task of the retry queue.",
        kinds.iter().map(|kind| (label(kind), age(kind))),
    );
    let breakers = kinds.iter().flat_map(|kind| {
        [("half-open", BreakerState::HalfOpen), ("open", BreakerState::Open)].map(|(word, state)| {
            let number = kind.breakers.iter().filter(|breaker| breaker.state == state).count();
            (format!(r#"{},state="{word}""#, label(kind)), number as u64)
        })
    });
    let help = "Circuit breakers of the retry queue that are not closed.";
    family(out, ("mallbox_retry_breakers", "gauge"), help, breakers);
    let runs = kinds.iter().flat_map(|kind| {
        [
            ("passed", kind.passed),
            ("failed", kind.failed),
            ("hopeless", kind.hopeless),
            ("held_back", kind.held_back),
        ]
        .map(|(outcome, number)| (format!(r#"{},outcome="{outcome}""#, label(kind)), number))
    });
    let help = "Runs of segments by outcome; held_back: not run, because a breaker was open.";
    counters(out, "mallbox_retry_runs_total", help, runs);
    let help = "Tasks refused because the retry queue of their kind was full.";
    let refused = kinds.iter().map(|kind| (label(kind), kind.refused));
    counters(out, "mallbox_retry_refused_total", help, refused);
}

fn label(kind: &RetryMetrics) -> String {
    format!(r#"kind="{}""#, kind.counts.kind)
}
