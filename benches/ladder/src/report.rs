//! What a run of the ladder reports about a rung.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::expected::expected;
use crate::findings::{Failure, Findings};
use crate::run::{Outcome, Speed};
use crate::trace::Event;
use crate::trigger::Trigger;
use crate::words::Words;

/// What is known about a rung after its runs.
#[derive(Clone, Debug, Serialize)]
pub struct RungReport {
    /// Number and letter.
    pub id: &'static str,
    /// What the rung does.
    pub title: Words,
    /// Processes that sell at the same time.
    pub instances: u8,
    /// Rates without a trigger; `None` if not measured.
    pub speed: Option<Speed>,
    /// Verdicts, by trigger.
    pub cases: Vec<CaseReport>,
}

/// Verdict of a rung under a trigger.
#[derive(Clone, Debug, Serialize)]
pub struct CaseReport {
    /// The trigger.
    pub trigger: Trigger,
    /// Number of runs.
    pub runs: usize,
    /// Failures that follow; none if the rung passes.
    pub expected: &'static [Failure],
    /// Failures seen, with the number of runs in which each was, and the greatest extent.
    pub seen: BTreeMap<Failure, Seen>,
    /// Whether every run failed in the expected ways, and in no other.
    pub as_expected: bool,
    /// Why runs did not come to a verdict.
    pub errors: Vec<String>,
    /// Events of the first run, or of the first one that differs.
    pub story: Vec<Event>,
    /// Place in the story of the event with which the failure is decided.
    pub mistake: Option<usize>,
}

/// How often a failure was seen.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct Seen {
    /// Runs with the failure.
    pub runs: usize,
    /// Greatest number of orders, users or claims concerned.
    pub most: u64,
}

impl RungReport {
    /// Whether every verdict is the expected one.
    #[must_use]
    pub fn is_as_expected(&self) -> bool {
        self.cases.iter().all(|case| case.as_expected)
    }

    /// Whether the rung fails under no trigger.
    #[must_use]
    pub fn passes(&self) -> bool {
        self.cases.iter().all(|case| case.errors.is_empty() && case.seen.is_empty())
    }
}

impl CaseReport {
    /// Judges the runs of a rung under a trigger.
    #[must_use]
    pub fn judge(rung: &'static str, trigger: Trigger, runs: Vec<Result<Outcome, String>>) -> Self {
        let expected = expected(rung, trigger);
        let mut seen: BTreeMap<Failure, Seen> = BTreeMap::new();
        let (mut errors, mut differs) = (Vec::new(), false);
        let (mut story, mut mistake) = (Vec::new(), None);
        let number = runs.len();
        for run in runs {
            match run {
                Err(error) => errors.push(error),
                Ok(outcome) => {
                    for (failure, extent) in outcome.findings.failures() {
                        let seen = seen.entry(failure).or_default();
                        seen.runs += 1;
                        seen.most = seen.most.max(extent);
                    }
                    let is_other = !matches(&outcome.findings, expected);
                    if story.is_empty() || (is_other && !differs) {
                        (story, mistake) = (outcome.story, outcome.mistake);
                    }
                    differs |= is_other;
                }
            }
        }
        let as_expected = errors.is_empty() && !differs;
        Self { trigger, runs: number, expected, seen, as_expected, errors, story, mistake }
    }
}

/// Whether exactly the expected failures were found.
fn matches(findings: &Findings, expected: &[Failure]) -> bool {
    let found = findings.failures();
    found.len() == expected.len() && found.iter().all(|(failure, _)| expected.contains(failure))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(findings: Findings) -> Result<Outcome, String> {
        Ok(Outcome { findings, story: Vec::new(), mistake: None })
    }

    #[test]
    fn a_verdict_is_expected_only_if_every_run_failed_in_these_ways_and_no_other() {
        let twice = Findings { bought_twice: 3, ..Findings::default() };
        let case = CaseReport::judge("2", Trigger::ThreeAtOnce, vec![run(twice), run(twice)]);
        assert!(case.as_expected);
        assert_eq!(case.seen[&Failure::BoughtTwice], Seen { runs: 2, most: 3 });
        let lucky = CaseReport::judge("2", Trigger::ThreeAtOnce, vec![run(twice), run(Findings::default())]);
        assert!(!lucky.as_expected, "one run passed");
        let further = Findings { oversold: 1, ..twice };
        assert!(!CaseReport::judge("2", Trigger::ThreeAtOnce, vec![run(further)]).as_expected);
        let failed = vec![run(twice), Err("no server".to_owned())];
        assert!(!CaseReport::judge("2", Trigger::ThreeAtOnce, failed).as_expected);
    }

    #[test]
    fn a_rung_that_is_not_in_the_table_has_to_pass() {
        assert!(CaseReport::judge("4", Trigger::ThreeAtOnce, vec![run(Findings::default())]).as_expected);
        let stuck = Findings { stuck: 1, ..Findings::default() };
        assert!(!CaseReport::judge("4", Trigger::ThreeAtOnce, vec![run(stuck)]).as_expected);
    }
}
