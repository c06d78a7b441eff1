//! All experiments on one way, and its costs.

use mallbox_bench_ports::BenchError;

use super::cost::{CacheCost, cost};
use super::expected::EXPECTED;
use super::experiments::EXPERIMENTS;
use super::ways::open;
use super::{CacheVerdict, MallCaches};
use crate::{Stage, Way};

/// Results on a way.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CacheResult {
    /// Verdicts, in the order of the questions.
    pub verdicts: Vec<CacheVerdict>,
    /// Costs; `None` if ended early.
    pub cost: Option<CacheCost>,
}

/// Returns the number of steps of a way: its experiments, each `repeat` times, and a measurement.
#[must_use]
pub fn steps(repeat: usize) -> usize {
    EXPERIMENTS.len() * repeat + 1
}

/// Runs the experiments on a way, each `repeat` times, and measures its costs. `on_step` gets the words of
/// each step before it begins, and returns false to end early.
///
/// # Errors
/// [`BenchError`]: an experiment could not be carried out.
pub async fn examine(
    stage: &Stage,
    way: &Way,
    malls: &dyn MallCaches,
    repeat: usize,
    mut on_step: impl FnMut(&str) -> bool + Send,
) -> Result<CacheResult, BenchError> {
    let mut findings = Vec::new();
    for _ in 0..repeat {
        for (words, experiment) in EXPERIMENTS {
            if !on_step(words) {
                return Ok(CacheResult::default());
            }
            let cache = open(way, stage, malls).await?;
            findings.extend(experiment(&cache).await?);
            cache.remove().await?;
        }
    }
    if !on_step("reads") {
        return Ok(CacheResult::default());
    }
    let cost = cost(stage, way, malls).await?;
    Ok(CacheResult { verdicts: EXPECTED.judge(way.name, &findings), cost: Some(cost) })
}
