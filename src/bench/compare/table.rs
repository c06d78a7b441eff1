//! The printed comparison: a table for each workload, what each system promises, and who is ahead.

use std::fmt::Write as _;

use super::workload::Workload;
use crate::bench::numbers::rate;
use crate::bench::result::{Run, System, comparisons, median};

/// A column: its heading, its decimals, and the figure of a run.
type Column = (&'static str, usize, fn(&Run) -> Option<f64>);

const MIB: f64 = 1_048_576.0;
const COLUMNS: [Column; 12] = [
    ("accepted /s", 0, |run| (!is_sold_out(run)).then_some(run.rates.accepted_per_s)),
    ("answered /s", 0, |run| is_sold_out(run).then_some(run.rates.answered_per_s)),
    ("persisted /s", 0, |run| run.rates.persisted_per_s),
    ("p50 ms", 2, |run| run.latency.at(0.5).map(|us| us as f64 / 1e3)),
    ("p99 ms", 2, |run| run.latency.at(0.99).map(|us| us as f64 / 1e3)),
    ("CPU µs", 1, |run| run.cost.cpu_us_per_operation),
    ("CPU ratio", 2, cpu_ratio),
    ("written B", 0, |run| run.cost.written_bytes_per_operation),
    ("B an order", 0, |run| run.cost.written_bytes_per_order),
    ("memory MiB", 0, |run| run.cost.memory_bytes.map(|bytes| bytes as f64 / MIB)),
    ("oversold", 0, |run| run.books.oversold.map(|units| units as f64)),
    ("lost by kill", 0, |run| run.books.lost_after_kill.map(|claims| claims as f64)),
];
const WIDTH: usize = 13;
const RUNS: usize = 6;

/// Returns CPU as a multiple of that of a bare request: of a claim until its order is in the database.
pub(super) fn cpu_ratio(run: &Run) -> Option<f64> {
    run.cost.cpu_ratio_persisted.or(run.cost.cpu_ratio)
}

fn is_sold_out(run: &Run) -> bool {
    run.workload == Workload::SoldOut.name()
}

/// Formats the medians of every workload, with a row for each system and the number of its rounds.
pub(super) fn medians(systems: &[System], runs: &[Run], rounds: usize) -> String {
    let width = systems.iter().map(|system| system.id.chars().count()).max().unwrap_or(0).max(16);
    let mut text = String::new();
    for workload in Workload::ALL {
        let of = |system: &System| {
            let is_it = |run: &&Run| {
                run.system == system.id && run.workload == workload.name() && run.failure.is_none()
            };
            runs.iter().filter(is_it).collect::<Vec<_>>()
        };
        let rows: Vec<_> = systems.iter().map(|system| (system, of(system))).collect();
        let value = |runs: &[&Run], read: fn(&Run) -> Option<f64>| {
            let values: Vec<f64> = runs.iter().filter_map(|run| read(run)).collect();
            (!values.is_empty()).then(|| median(values))
        };
        let is_used = |(_, _, read): &&Column| rows.iter().any(|(_, runs)| value(runs, *read).is_some());
        let columns: Vec<_> = COLUMNS.iter().filter(is_used).collect();
        if columns.is_empty() {
            continue;
        }
        let _ = write!(text, "\n{:width$}{:>RUNS$}", workload.name(), "runs");
        for (heading, ..) in &columns {
            let _ = write!(text, "{heading:>WIDTH$}");
        }
        for (system, runs) in rows.iter().filter(|(_, runs)| !runs.is_empty()) {
            let runs_made = format!("{}/{rounds}", runs.len());
            let _ = write!(text, "\n{:width$}{runs_made:>RUNS$}", system.id);
            for (_, digits, read) in &columns {
                let cell = value(runs, *read).map(|value| number(value, *digits));
                let _ = write!(text, "{:>WIDTH$}", cell.unwrap_or_else(|| "-".to_owned()));
            }
        }
        text.push('\n');
    }
    text
}

fn number(value: f64, digits: usize) -> String {
    if digits == 0 { rate(value).trim_end_matches(" /s").to_owned() } else { format!("{value:.digits$}") }
}

/// Formats what each system promises.
pub(super) fn classes(systems: &[System]) -> String {
    let mut text = String::new();
    for System { id, class, .. } in systems {
        let durable = match class.durable {
            "power" => "survives the loss of power",
            "process" => "survives the end of every process, not the loss of power",
            "memory" => "does not survive the end of the server",
            _ => "has an unknown durability",
        };
        let promise = |holds: Option<bool>, yes: &str, no: &str| match holds {
            Some(true) => format!(", {yes}"),
            Some(false) => format!(", {no}"),
            None => String::new(),
        };
        let one = promise(class.one_per_user, "one unit a user", "SEVERAL UNITS A USER");
        let once = promise(
            class.exactly_once_after_kill,
            "exactly once after kill -9",
            "NOT exactly once after kill -9",
        );
        let _ = writeln!(text, "{id}: an accepted claim {durable}{one}{once}.");
    }
    text
}

/// Formats who is ahead in the rate of each workload, between systems that promise the same.
/// `runs` are those of systems that did nothing wrong.
pub(super) fn verdicts(systems: &[System], runs: &[Run]) -> String {
    let mut text = String::new();
    let all = comparisons(systems, runs);
    let rates = all.iter().filter(|one| matches!(one.figure, "accepted_per_s" | "answered_per_s"));
    for one in rates {
        let (a, b, ratio, low, high) = (&one.a, &one.b, one.ratio, one.low, one.high);
        let verdict = match one.verdict {
            "a" | "b" => format!("{a} has {ratio:.2} times the rate of {b} ({low:.2} to {high:.2})"),
            "no_difference" => format!("no difference between {a} and {b} ({low:.2} to {high:.2})"),
            _ => continue,
        };
        let _ = writeln!(text, "{}: {verdict}.", one.workload);
    }
    text
}
