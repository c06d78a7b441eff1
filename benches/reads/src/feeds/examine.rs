//! All experiments on one way, and its costs.

use mallbox_bench_ports::BenchError;

use super::FeedVerdict;
use super::cost::{FeedCost, cost, fans};
use super::expected::EXPECTED;
use super::experiments::experiment;
use crate::{Effort, Stage, Way};

/// Results on a way.
#[derive(Clone, PartialEq, Debug, Default)]
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
/// step before it begins, and returns false to end early.
///
/// # Errors
/// [`BenchError`]: an experiment could not be carried out.
pub async fn examine(
    stage: &Stage,
    way: &Way,
    repeat: usize,
    mut on_step: impl FnMut(&str) -> bool + Send,
) -> Result<FeedResult, BenchError> {
    let mut findings = Vec::new();
    let mut costs = Vec::new();
    for _ in 0..repeat {
        if !on_step("experiments") {
            return Ok(FeedResult::default());
        }
        findings.extend(experiment(stage, way).await?);
    }
    for fans in fans(stage.effort) {
        if !on_step(&format!("{fans} fans")) {
            return Ok(FeedResult::default());
        }
        costs.push(cost(stage, way, *fans).await?);
    }
    Ok(FeedResult { verdicts: EXPECTED.judge(way.name, &findings), costs })
}
