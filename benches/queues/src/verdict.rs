//! The verdicts of experiments, and how a run publishes them.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::expected::expected;
use crate::question::Question;
use crate::ways::Way;

/// Outcome of one experiment.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Finding {
    pub(crate) question: Question,
    pub(crate) verdict: String,
    /// Counts behind the verdict.
    pub(crate) detail: String,
    pub(crate) bytes_per_message: Option<f64>,
    pub(crate) bytes_per_done_message: Option<f64>,
}

impl Finding {
    pub(crate) fn new(question: Question, verdict: impl Into<String>, detail: impl Into<String>) -> Self {
        Self {
            question,
            verdict: verdict.into(),
            detail: detail.into(),
            bytes_per_message: None,
            bytes_per_done_message: None,
        }
    }
}

/// Returns the verdict on messages lost and repeated.
pub(crate) fn losses(lost: usize, repeated: usize) -> String {
    match (lost, repeated) {
        (0, 0) => "nothing".to_owned(),
        (lost, 0) => format!("loses {lost}"),
        (0, repeated) => format!("repeats {repeated}"),
        (lost, repeated) => format!("loses {lost}, repeats {repeated}"),
    }
}

/// Verdicts on a question about a way, over all repetitions. Names of fields are those of the published file.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Verdict {
    /// Name of the way.
    pub way: &'static str,
    /// The question.
    pub question: Question,
    /// The verdicts, each with its number of repetitions.
    pub verdicts: BTreeMap<String, usize>,
    /// The verdict that stands in the code; `None` = any.
    pub expected: Option<&'static str>,
    /// Whether each repetition had the expected verdict.
    pub is_expected: bool,
    /// Counts of the first repetition.
    pub detail: String,
    /// Bytes that hold a message of the backlog.
    pub bytes_per_message: Option<f64>,
    /// Bytes that a message of the backlog still takes once it is done.
    pub bytes_per_done_message: Option<f64>,
}

impl Verdict {
    /// Gathers the findings on a question.
    pub(crate) fn of(way: &'static Way, question: Question, findings: &[Finding]) -> Option<Self> {
        let about: Vec<&Finding> = findings.iter().filter(|finding| finding.question == question).collect();
        let first = about.first()?;
        let mut verdicts = BTreeMap::new();
        for finding in &about {
            *verdicts.entry(finding.verdict.clone()).or_default() += 1;
        }
        let expected = expected(way.name, question);
        let is_expected = expected.is_none_or(|words| verdicts.keys().all(|verdict| verdict == words));
        Some(Self {
            way: way.name,
            question,
            verdicts,
            expected,
            is_expected,
            detail: first.detail.clone(),
            bytes_per_message: first.bytes_per_message,
            bytes_per_done_message: first.bytes_per_done_message,
        })
    }

    /// Returns the verdict, with `k of n` where repetitions differ.
    #[must_use]
    pub fn words(&self) -> String {
        let runs: usize = self.verdicts.values().sum();
        let words = self.verdicts.iter().map(|(verdict, count)| {
            if *count == runs { verdict.clone() } else { format!("{verdict} ({count} of {runs})") }
        });
        words.collect::<Vec<_>>().join(", ")
    }
}

/// Throughput and latency of a way on one setting of its component.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Speed {
    /// Name of the way.
    pub way: &'static str,
    /// The component, with its durability.
    pub setting: String,
    /// Producers, each with one send at a time; beside one consumer.
    pub producers: usize,
    /// Messages accepted per second.
    pub sent_per_s: f64,
    /// Messages received, worked on and acknowledged per second, in the same time.
    pub received_per_s: f64,
    /// Pace of the messages whose time was taken.
    pub paced_per_s: u64,
    /// Messages whose time was taken, and of these the number received.
    pub paced: u64,
    /// Number received of these messages.
    pub paced_received: u64,
    /// Median of the time from send to receipt, in µs.
    pub p50_us: f64,
    /// 99th percentile of the time from send to receipt, in µs.
    pub p99_us: f64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ways::way;

    fn verdict(verdicts: &[&str]) -> Verdict {
        let finding = |verdict: &&str| Finding::new(Question::KilledAtWork, *verdict, "");
        let findings: Vec<Finding> = verdicts.iter().map(finding).collect();
        Verdict::of(way("group").unwrap(), Question::KilledAtWork, &findings).unwrap()
    }

    #[test]
    fn one_repetition_that_differs_is_seen() {
        let same = verdict(&["repeats 1", "repeats 1"]);
        assert!(same.is_expected && same.words() == "repeats 1", "{same:?}");
        let other = verdict(&["repeats 1", "loses 1", "repeats 1"]);
        assert!(!other.is_expected, "{other:?}");
        assert_eq!(other.words(), "loses 1 (1 of 3), repeats 1 (2 of 3)");
    }

    #[test]
    fn losses_and_repetitions_have_one_form() {
        let words = [(0, 0), (7, 0), (0, 1), (2, 3)].map(|(lost, repeated)| losses(lost, repeated));
        assert_eq!(words, ["nothing", "loses 7", "repeats 1", "loses 2, repeats 3"]);
    }
}
