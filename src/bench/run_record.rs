//! What a load measured, as a run of the result document.

use std::time::Instant;

use super::ceiling::Ceiling;
use super::load::Report;
use super::process_usage::ProcessUsage;
use super::result::{Answers, Books, Ceilings, Cost, GeneratorShare, Latency, Rates, Run, TimelinePoint};
use super::rush::ClaimOutcomes;
use super::summary::micros_per_response;
use super::watch::MetricsSample;

/// Returns a run with everything that the load generator knows.
pub(super) fn run_record(
    (system, workload, round): (String, &'static str, usize),
    outcomes: &ClaimOutcomes,
    report: &Report,
) -> Run {
    Run {
        system,
        workload,
        round,
        failure: None,
        ceiling_per_s: None,
        offered_per_s: None,
        elapsed_s: report.elapsed.as_secs_f64(),
        answers: Answers {
            accepted: outcomes.accepted,
            sold_out: outcomes.sold_out,
            already_bought: outcomes.already_bought,
            refused: outcomes.refused,
            rejected: outcomes.rejected,
            lost: outcomes.lost,
        },
        rates: Rates {
            answered_per_s: report.per_second(),
            accepted_per_s: outcomes.accepted_per_second(report),
            persisted_per_s: None,
        },
        latency: Latency::of(&report.latencies),
        cost: Cost::default(),
        books: Books::default(),
        timeline: Vec::new(),
        trials: Vec::new(),
        generator: GeneratorShare {
            cpu_us_per_request: report.cpu.map(|cpu| cpu.as_secs_f64() * 1e6 / report.requests.max(1) as f64),
            busiest_share: report.busiest_share(),
            waited: report.waited,
            unsent: report.unsent,
            late: report.late,
        },
    }
}

/// Returns the cost of each answer.
pub(super) fn cost(usage: Option<ProcessUsage>, report: &Report) -> Cost {
    let answered = report.answered.max(1) as f64;
    Cost {
        cpu_us_per_operation: usage.map(|usage| micros_per_response(report, usage.cpu)),
        memory_bytes: usage.map(|usage| usage.memory),
        written_bytes_per_operation: usage.map(|usage| usage.written as f64 / answered),
    }
}

/// Returns the samples since the first claim, counted from the first sample.
pub(super) fn timeline(began: Option<Instant>, samples: &[(Instant, MetricsSample)]) -> Vec<TimelinePoint> {
    let before = samples.first().map(|(_, sample)| sample.persisted).unwrap_or_default();
    let point = |(at, sample): &(Instant, MetricsSample)| {
        let persisted = sample.persisted.saturating_sub(before);
        Some(TimelinePoint {
            at_s: at.checked_duration_since(began?)?.as_secs_f64(),
            accepted: persisted + sample.pending,
            persisted,
            pending: sample.pending,
        })
    };
    samples.iter().filter_map(point).collect()
}

impl From<Ceiling> for Ceilings {
    fn from(Ceiling { before, after }: Ceiling) -> Self {
        Self { before, after }
    }
}
