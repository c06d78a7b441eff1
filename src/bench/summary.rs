//! The printed result of a run: a label, the figure that matters, and what explains it.

use std::fmt;
use std::time::Duration;

use super::load::Report;
use super::numbers::{count, millis, rate};
use super::running_mall::Ending;
use super::rush::ClaimOutcomes;

/// Said when the load generator, not the mall, was the limit.
pub(super) const GENERATOR_BOUND: &str =
    "The load generator was the limit, not the mall: more --threads, or another machine.";
/// Said when the load generator's own delay is in the latencies.
const GENERATOR_STARVED: &str =
    "The load generator was short of CPU: its late requests count against the mall.";

const LABEL: usize = 16;
const FIGURE: usize = 14;

/// Lines in the order of their importance.
#[derive(Debug, Default)]
pub(super) struct Summary(Vec<Line>);

#[derive(Debug)]
struct Line {
    label: &'static str,
    figure: String,
    text: String,
}

impl Summary {
    pub(super) fn add(&mut self, label: &'static str, figure: String, text: String) {
        self.0.push(Line { label, figure, text });
    }

    /// Adds the rate of accepted claims, and what the other claims were answered.
    pub(super) fn add_accepted(&mut self, outcomes: &ClaimOutcomes, report: &Report) {
        let text = format!("in {:.2} s: {outcomes}", report.elapsed.as_secs_f64());
        self.add("accepted", rate(outcomes.accepted_per_second(report)), text);
    }

    /// Adds the percentiles of a load. `which` follows the word "median".
    pub(super) fn add_latency(&mut self, report: &Report, which: &str) {
        let text = format!("is the median{which}, {}", percentiles(report));
        self.add("latency", millis(report.p50()), text);
    }

    /// Adds the verdict of the ledger check.
    pub(super) fn add_books(&mut self, ending: &Ending) {
        let verdict = if ending.books_balance { "balance" } else { "DO NOT balance" };
        self.add("books", verdict.to_owned(), ending.books.clone());
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Line { label, figure, text } in &self.0 {
            let line = format!("{label:<LABEL$}{figure:>FIGURE$}  {text}");
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// Formats the percentiles of a load, without the median.
fn percentiles(report: &Report) -> String {
    let named = [("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999), ("p99.99", 0.9999), ("longest", 1.0)];
    let parts = named.map(|(name, quantile)| format!("{name} {}", millis(report.quantile(quantile))));
    parts.join(", ")
}

/// Formats the CPU time of the load's own threads, with a warning if they were the limit.
pub(super) fn generator(report: &Report) -> String {
    let mut text = match (report.cpu, report.busiest_share()) {
        (Some(cpu), Some(busiest)) => format!(
            "load generator: {:.1} µs of CPU a request, its busiest thread at {:.0} %",
            micros_per_response(report, cpu),
            100.0 * busiest
        ),
        _ => "load generator: CPU unknown on this system".to_owned(),
    };
    if report.waited + report.unsent + report.late > 0 {
        text += &format!(
            "; {} of {} requests waited for a free connection, {} were never sent, {} started late",
            count(report.waited),
            count(report.requests),
            count(report.unsent),
            count(report.late)
        );
    }
    if let Some((_, warning)) = warning(report) {
        text += &format!("\n! {warning}");
    }
    text
}

/// Returns what makes the figures of a load doubtful: a code and a sentence.
pub(super) fn warning(report: &Report) -> Option<(&'static str, &'static str)> {
    if report.is_generator_bound() {
        Some(("generator_bound", GENERATOR_BOUND))
    } else if report.is_generator_starved() {
        Some(("generator_starved", GENERATOR_STARVED))
    } else {
        None
    }
}

/// Returns the time per response within `span`, in µs.
pub(super) fn micros_per_response(report: &Report, span: Duration) -> f64 {
    span.as_secs_f64() * 1e6 / report.answered.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_stand_below_each_other() {
        let mut summary = Summary::default();
        summary.add("accepted", rate(24_046.4), "5,000 units".to_owned());
        summary.add("books", "balance".to_owned(), String::new());
        let text = "accepted             24,046 /s  5,000 units\nbooks                  balance\n";
        assert_eq!(summary.to_string(), text);
    }
}
