//! The printed verdicts.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use mallbox_bench_ladder::{CaseReport, Failure, RungReport, Seen};

use crate::bench::numbers::rate;

/// Failures in the order of the columns, with their titles.
const COLUMNS: [(Failure, &str); 6] = [
    (Failure::Oversold, "oversold"),
    (Failure::BoughtTwice, "twice"),
    (Failure::RefusedWhileLeft, "refused"),
    (Failure::Stuck, "stuck"),
    (Failure::Lost, "lost"),
    (Failure::BooksOff, "books"),
];
/// Width of a rung's title.
const TITLE_WIDTH: usize = 42;

/// Returns the table of all rungs, how each fails, and which verdicts differ from the expected ones.
pub(super) fn text(reports: &[RungReport]) -> String {
    let mut text = format!("{:<4} {:<TITLE_WIDTH$}{:>10}{:>11}{:>8}", "", "", "accepted", "persisted", "p99");
    for (_, title) in COLUMNS {
        let _ = write!(text, " {title:>8}");
    }
    text.push('\n');
    for report in reports {
        text += &row(report);
    }
    text += "\nUnits, users or orders concerned, at most in one run; \"·\" = none under any trigger.\n";
    let failing: Vec<_> = reports.iter().filter(|report| !report.passes()).collect();
    if !failing.is_empty() {
        text += "\nHow they fail, in k of n runs:\n";
        failing.iter().for_each(|report| text += &failures(report));
    }
    text += &differences(reports);
    text
}

fn row(report: &RungReport) -> String {
    let mut text = format!("{:<4} {:<TITLE_WIDTH$}", report.id, report.title.en);
    match report.speed {
        Some(speed) => {
            let (accepted, persisted) = (rate(speed.accepted_per_s), rate(speed.persisted_per_s));
            let _ = write!(text, "{accepted:>10}{persisted:>11}{:>5.0} ms", speed.p99_ms);
        }
        None => text += &format!("{:>29}", ""),
    }
    let mut most: BTreeMap<Failure, u64> = BTreeMap::new();
    for (failure, seen) in report.cases.iter().flat_map(|case| &case.seen) {
        let known = most.entry(*failure).or_default();
        *known = seen.most.max(*known);
    }
    for (failure, _) in COLUMNS {
        let cell = most.get(&failure).map_or_else(|| "·".to_owned(), u64::to_string);
        let _ = write!(text, " {cell:>8}");
    }
    text.push('\n');
    text
}

/// Returns how a rung fails: each trigger with its failures.
fn failures(report: &RungReport) -> String {
    let mut text = String::new();
    for case in report.cases.iter().filter(|case| !case.seen.is_empty()) {
        let id = if text.is_empty() { report.id } else { "" };
        let _ = writeln!(text, "{id:<4} {:<24}{}", case.trigger.name(), seen(case));
    }
    text
}

fn seen(case: &CaseReport) -> String {
    let words = case
        .seen
        .iter()
        .map(|(failure, Seen { runs, .. })| format!("{} ({runs} of {})", name(*failure), case.runs));
    words.collect::<Vec<_>>().join(", ")
}

fn differences(reports: &[RungReport]) -> String {
    let mut text = String::new();
    for report in reports {
        for case in report.cases.iter().filter(|case| !case.as_expected) {
            let expected: Vec<_> = case.expected.iter().map(|failure| name(*failure)).collect();
            let expected = if expected.is_empty() { "none".to_owned() } else { expected.join(", ") };
            let seen = if case.seen.is_empty() { "none".to_owned() } else { seen(case) };
            let (id, trigger) = (report.id, case.trigger.name());
            let _ = writeln!(text, "{id:<4} {trigger:<24}expected: {expected}; found: {seen}");
            case.errors.iter().for_each(|error| {
                let _ = writeln!(text, "{:<29}no verdict: {error}", "");
            });
        }
    }
    if text.is_empty() {
        "\nEvery verdict is the expected one.\n".to_owned()
    } else {
        format!("\nThese verdicts differ from the expected ones:\n{text}")
    }
}

fn name(failure: Failure) -> &'static str {
    match failure {
        Failure::Oversold => "oversold",
        Failure::BoughtTwice => "bought twice",
        Failure::RefusedWhileLeft => "refused while units were left",
        Failure::Stuck => "stuck for ever",
        Failure::Lost => "accepted and lost",
        Failure::BooksOff => "books do not balance",
    }
}
