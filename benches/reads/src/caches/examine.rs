//! All experiments on one way, and its costs.

use std::ops::ControlFlow;

use mallbox_bench_ports::BenchError;

use super::cost::{CacheCost, cost};
use super::expected::EXPECTED;
use super::experiments::EXPERIMENTS;
use super::question::CacheVerdict;
use super::ways::{MallCaches, open};
use crate::{Stage, Way};

/// Results on a way.
#[derive(Clone, PartialEq, Debug)]
pub struct CacheResult {
    /// Verdicts, in the order of the questions.
    pub verdicts: Vec<CacheVerdict>,
    /// Costs.
    pub cost: CacheCost,
}

/// Returns the number of steps of a way: its experiments, each `repeat` times, and a measurement.
#[must_use]
pub fn steps(repeat: usize) -> usize {
    EXPERIMENTS.len() * repeat + 1
}

/// Runs the experiments on a way, each `repeat` times, and measures its costs. `on_step` gets the words of
/// each step before it begins, and may cancel there: then there is no result.
///
/// # Errors
/// [`BenchError`]: an experiment could not be carried out.
pub async fn examine(
    stage: &Stage,
    way: &Way,
    malls: &dyn MallCaches,
    repeat: usize,
    mut on_step: impl FnMut(&'static str) -> ControlFlow<()>,
) -> Result<Option<CacheResult>, BenchError> {
    let mut findings = Vec::new();
    for _ in 0..repeat {
        for (words, experiment) in EXPERIMENTS {
            if on_step(words).is_break() {
                return Ok(None);
            }
            let cache = open(way, stage, malls).await?;
            findings.extend(experiment(&cache).await?);
            cache.remove().await?;
        }
    }
    if on_step("reads").is_break() {
        return Ok(None);
    }
    let cost = cost(stage, way, malls).await?;
    Ok(Some(CacheResult { verdicts: EXPECTED.judge(way.name, &findings), cost }))
}
