//! All experiments on one way.

use std::ops::ControlFlow;

use crate::error::QueueError;
use crate::expected::EXPECTED;
use crate::experiments::{EXPERIMENTS, speeds};
use crate::question::Question;
use crate::stage::Stage;
use crate::verdict::{Speed, Verdict};
use crate::ways::Way;

/// Steps of a way: its experiments, each `repeat` times, and its throughput.
#[must_use]
pub fn steps(repeat: usize) -> usize {
    EXPERIMENTS.len() * repeat + 1
}

/// Results on a way.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct WayResult {
    /// Verdicts, in the order of the questions.
    pub verdicts: Vec<Verdict>,
    /// Throughput and latency.
    pub speeds: Vec<Speed>,
}

/// Runs all experiments on a way, those with verdicts `repeat` times. `on_step` gets the words of each step
/// before the step begins, and may cancel there: then there is no result.
///
/// # Errors
/// [`QueueError`]: an experiment could not be carried out.
pub fn examine(
    stage: &Stage,
    way: &'static Way,
    repeat: usize,
    mut on_step: impl FnMut(&'static str) -> ControlFlow<()>,
) -> Result<Option<WayResult>, QueueError> {
    let mut findings = Vec::new();
    for _ in 0..repeat {
        for (words, experiment) in EXPERIMENTS {
            if on_step(words).is_break() {
                return Ok(None);
            }
            findings.extend(experiment(stage, way)?);
        }
    }
    if on_step("throughput").is_break() {
        return Ok(None);
    }
    let speeds = speeds(stage, way)?;
    let verdicts = Question::ALL.iter().filter_map(|question| {
        let expected = EXPECTED.expected(way.name, *question);
        Verdict::of(way.name, *question, expected, &findings)
    });
    Ok(Some(WayResult { verdicts: verdicts.collect(), speeds }))
}
