//! What a load measured, as a run of the result document.

use std::time::Instant;

use super::ceiling::Ceiling;
use super::load::Report;
use super::process_usage::ProcessUsage;
use super::programs::ProgramUsage;
use super::result::{
    Answers, Books, Ceilings, Cost, GeneratorShare, Latency, ProgramCost, Rates, Run, TimelinePoint,
};
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
        ceiling_cpu_us: None,
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
    Cost {
        cpu_us_per_operation: usage.map(|usage| micros_per_response(report, usage.cpu)),
        memory_bytes: usage.map(|usage| usage.memory),
        written_bytes_per_operation: usage.map(|usage| written_per_response(report, usage)),
        ..Cost::default()
    }
}

/// Returns the cost of each answer, by program.
pub(super) fn program_costs(usage: &ProgramUsage, report: &Report) -> Vec<ProgramCost> {
    let cost = |(name, usage): &(&'static str, Option<ProcessUsage>)| ProgramCost {
        name,
        cpu_us_per_operation: usage.map(|usage| micros_per_response(report, usage.cpu)),
        written_bytes_per_operation: usage.map(|usage| written_per_response(report, usage)),
    };
    usage.0.iter().map(cost).collect()
}

fn written_per_response(report: &Report, usage: ProcessUsage) -> f64 {
    usage.written as f64 / report.answered.max(1) as f64
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

impl Ceilings {
    /// Returns the rates of a bare handler.
    pub(super) fn rates(ceiling: Ceiling) -> Self {
        Self { before: ceiling.before.per_s, after: ceiling.after.per_s }
    }

    /// Returns the CPU of a bare request, if both measurements have it.
    pub(super) fn cpu(ceiling: Ceiling) -> Option<Self> {
        ceiling.cpu_us().map(|(before, after)| Self { before, after })
    }
}
