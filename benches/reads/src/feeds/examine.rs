//! All experiments on one way, and its costs.

use std::ops::ControlFlow;

use mallbox_bench_ports::{BenchError, Effort};

use super::cost::{FeedCost, cost, fans};
use super::expected::EXPECTED;
use super::experiments::experiment;
use super::question::FeedVerdict;
use crate::{Stage, Way};

/// Results on a way.
#[derive(Clone, PartialEq, Debug)]
pub struct FeedResult {
    /// Verdicts, in the order of the questions.
    pub verdicts: Vec<FeedVerdict>,
    /// Costs, by rising number of fans.
    pub costs: Vec<FeedCost>,
}

/// Returns the number of steps of a way: its experiments, `repeat` times, and a measurement for each number
/// of fans.
#[must_use]
pub fn steps(effort: Effort, repeat: usize) -> usize {
    repeat + fans(effort).len()
}

/// Runs the experiments on a way `repeat` times, and measures its costs. `on_step` gets the words of each
/// step before it begins, and may cancel there: then there is no result.
///
/// # Errors
/// [`BenchError`]: an experiment could not be carried out.
pub async fn examine(
    stage: &Stage,
    way: &Way,
    repeat: usize,
    mut on_step: impl FnMut(&'static str) -> ControlFlow<()>,
) -> Result<Option<FeedResult>, BenchError> {
    let mut findings = Vec::new();
    let mut costs = Vec::new();
    for _ in 0..repeat {
        if on_step("experiments").is_break() {
            return Ok(None);
        }
        findings.extend(experiment(stage, way).await?);
    }
    for (fans, words) in fans(stage.effort) {
        if on_step(words).is_break() {
            return Ok(None);
        }
        costs.push(cost(stage, way, *fans).await?);
    }
    Ok(Some(FeedResult { verdicts: EXPECTED.judge(way.name, &findings), costs }))
}
